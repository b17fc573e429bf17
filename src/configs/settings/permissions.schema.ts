import { z } from 'zod';
import { clients, type Setting, server, type Terms } from '../../core/terms.ts';
import type { Intersection } from '../../core/types.ts';
import * as declared from '../../terms.ts';

/** A tree as stored or sent: any sections and leaves, each true or false. */
export const Permissions = z.record(z.string(), z.record(z.string(), z.boolean()));
export type Permissions = z.infer<typeof Permissions>;

/**
 * Permissions that no operation here checks: clients use them to hide features. Names and defaults are those of comparable systems,
 * so that an exported configuration keeps its meaning.
 */
const FOR_CLIENTS = {
  workspace: {
    knowledge: false,
    prompts: false,
    skills: false,
    prompts_import: false,
    prompts_export: false,
  },
  sharing: {
    models: false,
    knowledge: false,
    public_knowledge: false,
    prompts: false,
    public_prompts: false,
    tools: false,
    skills: false,
    public_skills: false,
    notes: false,
    public_notes: false,
  },
  chat: {
    controls: true,
    valves: true,
    system_prompt: true,
    params: true,
    web_upload: true,
    delete: true,
    delete_message: true,
    continue_response: true,
    regenerate_response: true,
    rate_response: true,
    edit: true,
    share: true,
    export: true,
    stt: true,
    tts: true,
    call: true,
    multiple_models: true,
    temporary: true,
    temporary_enforced: false,
  },
  features: {
    notes: true,
    folders: true,
    web_search: true,
    image_generation: true,
    code_interpreter: true,
    memories: true,
  },
  settings: { interface: true },
} as const;

/** Permissions that operations check, as their nouns declare them. */
const ENFORCED = Object.values<Terms>(declared).map(({ permissions = {} }) => permissions);

type PermissionsOf<T> = T extends { permissions: infer P } ? P : never;
type Declared = (typeof declared)[keyof typeof declared];
type Tree = typeof FOR_CLIENTS & Intersection<PermissionsOf<Declared>>;

/**
 * The permissions of accounts that are not administrators. Two levels, `section.leaf`; a missing path counts as false.
 */
export const DEFAULT_PERMISSIONS: Permissions = merge([FOR_CLIENTS, ...ENFORCED]);

function merge(trees: readonly Permissions[]): Permissions {
  const names = new Set(trees.flatMap((tree) => Object.keys(tree)));
  return Object.fromEntries(
    [...names].map((name) => [name, Object.assign({}, ...trees.map((tree) => tree[name]))]),
  );
}

/** The description of a permission. */
export const describePermission = (section: string, leaf: string): Setting => {
  const name = `${section}.${leaf}`;
  const isEnforced = ENFORCED.some((tree) => tree[section]?.[leaf] !== undefined);
  return isEnforced
    ? server(`The permission ${name}, enforced by the server`)
    : clients(`The permission ${name}`);
};

/** A permission's dotted name, such as `workspace.tools`. */
export type Permission = {
  [Section in keyof Tree & string]: `${Section}.${keyof Tree[Section] & string}`;
}[keyof Tree & string];

const section = () => z.record(z.string(), z.boolean());

/** The configured tree. The sections that the service reference names are required, others are optional. */
export const PermissionTree = z
  .object({
    workspace: section(),
    sharing: section(),
    chat: section(),
    features: section(),
    settings: section(),
  })
  .catchall(section());

/** For a request that replaces the permissions: requires all sections, so that an old client removes none that it does not know. */
export const DefaultPermissionTree = PermissionTree.extend({ access_grants: section() });

/** A stored tree, completed by the built-in defaults. */
export function completePermissions(tree: Permissions): Permissions {
  const sections = new Set([...Object.keys(DEFAULT_PERMISSIONS), ...Object.keys(tree)]);
  return Object.fromEntries(
    [...sections].map((section) => [section, { ...DEFAULT_PERMISSIONS[section], ...tree[section] }]),
  );
}
