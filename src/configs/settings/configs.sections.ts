import { z } from 'zod';
import type { Section, Terms } from '../../core/terms.ts';
import type { Intersection } from '../../core/types.ts';
import * as declared from '../../terms.ts';
import { DEFAULT_PERMISSIONS, describePermission, PermissionTree } from './permissions.schema.ts';

/** The permissions are a section whose members nouns declare. */
const user = {
  schema: z.looseObject({ permissions: PermissionTree }),
  defaults: { permissions: structuredClone(DEFAULT_PERMISSIONS) },
  settings: Object.fromEntries(
    Object.entries(DEFAULT_PERMISSIONS).flatMap(([section, leaves]) =>
      Object.keys(leaves).map((leaf) => [
        `permissions.${section}.${leaf}`,
        describePermission(section, leaf),
      ]),
    ),
  ),
} satisfies Section;

type Declared = (typeof declared)[keyof typeof declared];
type SectionsOf<T> = T extends { sections: infer S } ? S : never;
export type Sections = Intersection<SectionsOf<Declared>> & { user: typeof user };

/** How the service reference shows them. Others follow. */
const ORDER = [
  ...['ui', 'auth', 'oauth', 'local_model_server', 'hosted_model_api', 'models', 'tool_server'],
  ...['terminal_server', 'direct', 'webui', 'user', 'folders', 'files', 'tools', 'limits', 'channels'],
  ...['notes', 'webhook_url'],
];
const placeOf = ([name]: readonly [string, unknown]) => {
  const place = ORDER.indexOf(name);
  return place === -1 ? ORDER.length : place;
};

const all: [string, Section][] = [
  ['user', user],
  ...Object.values<Terms>(declared).flatMap(({ sections = {} }) => Object.entries(sections)),
];

/** Every section of the configuration. */
export const sections = Object.fromEntries(all.sort((a, b) => placeOf(a) - placeOf(b))) as Sections;
