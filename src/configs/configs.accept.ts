import { AppError } from '../core/errors.ts';
import { describeIssues } from '../core/failure.ts';
import { CONFIG_VERSION, DEFAULT_CONFIGURATION } from './configs.defaults.ts';
import { Configuration } from './configs.schema.ts';
import { isTree, type Tree } from './configs.settings.ts';
import { upgrade } from './configs.upgrades.ts';

/** What comparable systems call two of the sections. */
const OTHER_NAMES = { ollama: 'local_model_server', openai: 'hosted_model_api' } as const;

/** Of an export that does not say which version it is, it is not ours. */
const OTHERS_VERSION = 0;

/** Sections that only this service has; nobody else's export can hold them, so they may be missing. */
const { files } = DEFAULT_CONFIGURATION;
const OWN_SECTIONS = { files };

export interface AcceptOptions {
  /** Takes the defaults for whatever is missing, as an export of another system may hold only part of the members. */
  fill?: 'defaults' | undefined;
}

/**
 * Makes a configuration of this version of what somebody sent.
 *
 * @throws config_newer when a newer version wrote it
 * @throws validation naming the first members that are missing or wrong
 */
export function acceptConfiguration(sent: Tree, { fill }: AcceptOptions = {}): Configuration {
  const { version } = sent;
  if (typeof version === 'number' && version > CONFIG_VERSION) {
    throw new AppError('config_newer', {
      detail: `The configuration has version ${version}; this server knows versions up to ${CONFIG_VERSION}. Update the server first.`,
    });
  }
  const named = rename(sent);
  const complete =
    fill === 'defaults'
      ? (fillIn({ version: OTHERS_VERSION, ...named }, DEFAULT_CONFIGURATION) as Tree)
      : { ...OWN_SECTIONS, ...named };
  const parsed = Configuration.safeParse(upgrade(complete));
  if (parsed.success) return { ...parsed.data, version: CONFIG_VERSION };
  const issues = describeIssues(parsed.error);
  const [first] = issues;
  const detail = first && (first.path === '' ? first.message : `${first.path}: ${first.message}`);
  throw new AppError('validation', { ...(detail && { detail }), issues });
}

/** @throws validation when a section came under both of its names */
function rename(tree: Tree): Tree {
  const renamed = { ...tree };
  for (const [other, own] of Object.entries(OTHER_NAMES)) {
    if (!Object.hasOwn(renamed, other)) continue;
    if (Object.hasOwn(renamed, own)) {
      const message = `is the same section as ${own}: send one of them`;
      throw new AppError('validation', {
        detail: `${other}: ${message}`,
        issues: [{ path: other, message }],
      });
    }
    renamed[own] = renamed[other];
    delete renamed[other];
  }
  return renamed;
}

const PERMISSION_SECTIONS = new Set<unknown>(Object.values(DEFAULT_CONFIGURATION.user.permissions));

/** The value with the defaults for what it lacks; null counts as missing where the default is something. */
function fillIn(value: unknown, initial: unknown): unknown {
  if (value === undefined || (value === null && initial !== null)) return structuredClone(initial);
  if (!isTree(value) || !isTree(initial)) return value;
  const filled: Tree = { ...value };
  for (const [name, below] of Object.entries(initial)) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    // A section of permissions stands for the defaults in what it leaves out, so it is stored as it came.
    filled[name] = isTree(given) && PERMISSION_SECTIONS.has(below) ? given : fillIn(given, below);
  }
  return filled;
}

/**
 * The stored configuration as this version has it: what an older one did not know yet takes its default. One that no
 * version would store, as when somebody edited the row, is used as far as it goes, for the server must start.
 *
 * @param report is told what is wrong with it
 * @throws config_newer
 */
export function readStored(data: Tree, report: (detail: string) => void): Configuration {
  try {
    return acceptConfiguration(data, { fill: 'defaults' });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'validation') throw error;
    report(error.message);
    return fillIn(data, DEFAULT_CONFIGURATION) as Configuration;
  }
}
