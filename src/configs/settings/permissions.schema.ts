import { z } from 'zod';

/**
 * What accounts may do that are not administrators. Two levels, `section.leaf`; a path that is missing counts as false.
 * Names and defaults are those of `peer-wire.md` 5.4, so that an exported configuration keeps its meaning.
 */
export const DEFAULT_PERMISSIONS = {
  workspace: {
    models: false,
    knowledge: false,
    prompts: false,
    tools: false,
    skills: false,
    models_import: false,
    models_export: false,
    prompts_import: false,
    prompts_export: false,
    tools_import: false,
    tools_export: false,
  },
  sharing: {
    models: false,
    public_models: false,
    knowledge: false,
    public_knowledge: false,
    prompts: false,
    public_prompts: false,
    tools: false,
    public_tools: false,
    skills: false,
    public_skills: false,
    notes: false,
    public_notes: false,
    public_channels: false,
  },
  access_grants: { allow_users: true },
  chat: {
    controls: true,
    valves: true,
    system_prompt: true,
    params: true,
    file_upload: true,
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
    api_keys: false,
    notes: true,
    folders: true,
    channels: true,
    direct_tool_servers: false,
    web_search: true,
    image_generation: true,
    code_interpreter: true,
    memories: true,
  },
  settings: { interface: true },
} as const;

type Tree = typeof DEFAULT_PERMISSIONS;

/** A permission's dotted name, such as `workspace.tools`. */
export type Permission = {
  [Section in keyof Tree & string]: `${Section}.${keyof Tree[Section] & string}`;
}[keyof Tree & string];

/** A tree as stored or sent: any sections and leaves, each true or false. */
export const Permissions = z.record(z.string(), z.record(z.string(), z.boolean()));
export type Permissions = z.infer<typeof Permissions>;

const section = () => z.record(z.string(), z.boolean());

/** The configured tree: the sections that the service reference names must be there, others may be. */
export const PermissionTree = z
  .object({
    workspace: section(),
    sharing: section(),
    chat: section(),
    features: section(),
    settings: section(),
  })
  .catchall(section());

/** The same where it is replaced by itself: all sections, so that an old client does not take away what it does not know. */
export const DefaultPermissionTree = PermissionTree.extend({ access_grants: section() });

/** Completes a stored tree with the built-in defaults for what it does not name. */
export function completePermissions(tree: Permissions): Permissions {
  const sections = new Set([...Object.keys(DEFAULT_PERMISSIONS), ...Object.keys(tree)]);
  return Object.fromEntries(
    [...sections].map((section) => [
      section,
      { ...(DEFAULT_PERMISSIONS as Permissions)[section], ...tree[section] },
    ]),
  );
}
