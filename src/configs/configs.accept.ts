import { AppError, invalid, invalidMembers, sentence } from '../core/errors.ts';
import { describeIssues } from '../core/failure.ts';
import { fillIn, lacks, pickOverrides } from './configs.overrides.ts';
import { upgrade } from './configs.upgrades.ts';
import { CONFIG_VERSION, DEFAULT_CONFIGURATION } from './settings/configs.defaults.ts';
import { Configuration, type ConfigurationFault } from './settings/configs.schema.ts';
import type { Tree } from './settings/configs.settings.ts';

/** The names that comparable systems use for two of the sections. */
export const OTHER_NAMES = { ollama: 'local_model_server', openai: 'hosted_model_api' } as const;

/** The version of an export that names none: it comes from another system. */
const OTHERS_VERSION = 0;

export interface AcceptOptions {
  /** Missing members get their defaults: an export of another system may hold only some of the members. */
  fill?: 'defaults' | undefined;
}

/**
 * The overrides of an import: the members that it names. Without `fill`, the import must name all members that the schema requires;
 * optional members that it does not name have their defaults.
 *
 * @throws config_newer when a newer version wrote it
 * @throws validation naming the first members that are missing or wrong
 */
export function acceptConfiguration(sent: Tree, { fill }: AcceptOptions = {}): Tree {
  refuseNewer(sent);
  if (fill) refuseEmpty(sent);
  const named = rename(sent, (path, message) => {
    throw invalid(path, message);
  });
  const given = upgrade(fill ? { version: OTHERS_VERSION, ...named } : named);
  return check(given, fill ? (fillIn(given, DEFAULT_CONFIGURATION, lacks) as Tree) : given);
}

/** Changed overrides in the form of the schema. @throws validation naming the first wrong members */
export const acceptOverrides = (overrides: Tree): Tree => check(overrides, withDefaults(overrides));

const withDefaults = (overrides: Tree) => fillIn(overrides, DEFAULT_CONFIGURATION) as Tree;

/** Checks a whole configuration, and returns those of its members that `given` names. */
function check(given: Tree, whole: Tree): Tree {
  const parsed = Configuration.safeParse(whole);
  if (parsed.success) return pickOverrides(parsed.data, given);
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

/** @param onTwice called for a section that was sent under both of its names; the one under our own name is used */
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

/**
 * The stored overrides in the form of this version. A section that the schema refuses, for example after an edit of the row by hand,
 * is left out: its defaults are in force.
 *
 * @returns also the faults of the stored overrides
 * @throws config_newer
 * @throws validation when the row as a whole is wrong
 */
export function readStored(data: Tree): { overrides: Tree; faults: ConfigurationFault[] } {
  refuseNewer(data);
  const faults: ConfigurationFault[] = [];
  const named = rename(data, (path, message) => faults.push({ path, message }));
  const stored = upgrade({ version: OTHERS_VERSION, ...named });
  const sections = faultySections(stored);
  const usable = Object.entries(stored).filter(([name]) => !sections.has(name));
  for (const [path, message] of sections) faults.push({ path, message });
  return { overrides: acceptOverrides(Object.fromEntries(usable)), faults };
}

/** The first fault of each section that the schema refuses, by the name of the section. */
function faultySections(stored: Tree): Map<string, string> {
  const faulty = new Map<string, string>();
  for (const { path, message } of Configuration.safeParse(withDefaults(stored)).error?.issues ?? []) {
    const [section, ...member] = path.map(String);
    if (section === undefined || faulty.has(section)) continue;
    faulty.set(section, sentence({ path: member.join('.'), message }));
  }
  return faulty;
}
