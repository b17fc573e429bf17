import { AppError, invalid, invalidMembers } from '../core/errors.ts';
import { describeIssues } from '../core/failure.ts';
import { type ConfigurationFault, mend } from './configs.mend.ts';
import { upgrade } from './configs.upgrades.ts';
import { CONFIG_VERSION, DEFAULT_CONFIGURATION } from './settings/configs.defaults.ts';
import { Configuration } from './settings/configs.schema.ts';
import { isTree, type Tree } from './settings/configs.settings.ts';

/** What comparable systems call two of the sections. */
export const OTHER_NAMES = { ollama: 'local_model_server', openai: 'hosted_model_api' } as const;

/** Of an export that does not say which version it is, it is not ours. */
const OTHERS_VERSION = 0;

/** Sections that only this service has; nobody else's export can hold them, so they may be missing. */
const { files, limits } = DEFAULT_CONFIGURATION;
const OWN_SECTIONS = { files, limits };

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
  refuseNewer(sent);
  if (fill) refuseEmpty(sent);
  const named = rename(sent, (path, message) => {
    throw invalid(path, message);
  });
  const complete =
    fill === 'defaults'
      ? (fillIn({ version: OTHERS_VERSION, ...named }, DEFAULT_CONFIGURATION) as Tree)
      : {
          ...OWN_SECTIONS,
          ...named,
          ...(isTree(named.limits) && { limits: { ...limits, ...named.limits } }),
        };
  const parsed = Configuration.safeParse(upgrade(complete));
  if (parsed.success) return { ...parsed.data, version: CONFIG_VERSION };
  throw invalidMembers(describeIssues(parsed.error));
}

/** Filling an object that holds no section would reset every setting. */
function refuseEmpty(sent: Tree): void {
  const isSection = (name: string) =>
    name !== 'version' && (Object.hasOwn(DEFAULT_CONFIGURATION, name) || Object.hasOwn(OTHER_NAMES, name));
  if (Object.keys(sent).some(isSection)) return;
  throw invalid(
    '',
    'The configuration holds none of its sections, such as ui or auth. Send the whole object.',
  );
}

function refuseNewer({ version }: Tree): void {
  if (typeof version !== 'number' || version <= CONFIG_VERSION) return;
  throw new AppError('config_newer', {
    detail: `The configuration has version ${version}; this server knows versions up to ${CONFIG_VERSION}. Update the server first.`,
  });
}

/** @param onTwice is told of a section that came under both of its names; that under our own is taken */
function rename(tree: Tree, onTwice: (path: string, message: string) => void): Tree {
  const renamed = { ...tree };
  for (const [other, own] of Object.entries(OTHER_NAMES)) {
    if (!Object.hasOwn(renamed, other)) continue;
    if (Object.hasOwn(renamed, own)) onTwice(other, `is the same section as ${own}: send one of them`);
    else renamed[own] = renamed[other];
    delete renamed[other];
  }
  return renamed;
}

const PERMISSION_SECTIONS = new Set<unknown>(Object.values(DEFAULT_CONFIGURATION.user.permissions));

/** Null counts as missing where the default is something. */
const lacks = (value: unknown, initial: unknown) =>
  value === undefined || (value === null && initial !== null);
const isAbsent = (value: unknown) => value === undefined;

/** The value with the defaults for what it lacks. */
function fillIn(value: unknown, initial: unknown, isMissing = lacks): unknown {
  if (isMissing(value, initial)) return structuredClone(initial);
  if (!isTree(value) || !isTree(initial)) return value;
  const filled: Tree = { ...value };
  for (const [name, below] of Object.entries(initial)) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    // A section of permissions stands for the defaults in what it leaves out, so it is stored as it came.
    filled[name] = isTree(given) && PERMISSION_SECTIONS.has(below) ? given : fillIn(given, below, isMissing);
  }
  return filled;
}

/**
 * The stored configuration as this version has it: what an older one did not know yet takes its default. So does what no version
 * would have stored, as when somebody edited the row: the server must start, and the rest of a part be there.
 *
 * @returns what is wrong with it, too
 * @throws config_newer
 */
export function readStored(data: Tree): { configuration: Configuration; faults: ConfigurationFault[] } {
  refuseNewer(data);
  const twice: ConfigurationFault[] = [];
  const named = rename(data, (path, message) => twice.push({ path, message }));
  const complete = fillIn({ version: OTHERS_VERSION, ...named }, DEFAULT_CONFIGURATION, isAbsent) as Tree;
  const { configuration, faults } = mend(upgrade(complete));
  return { configuration, faults: [...twice, ...faults] };
}
