import { z } from 'zod';
import { isObject } from '../../core/json/json.ts';
import type { Section } from '../../core/terms.ts';
import { sections } from './configs.sections.ts';

type JsonSchema = Record<string, unknown>;

/** Created at the first call, because it takes a while. */
const made = new Map<string, JsonSchema>();

/** JSON Schema (draft 2020-12) of the value of a setting; empty for an unknown setting. */
export function schemaOfSetting(path: string): JsonSchema {
  const [name = '', ...members] = path.split('.');
  return members.reduce((schema, member) => memberOf(schema, member), schemaOfSection(name));
}

function schemaOfSection(name: string): JsonSchema {
  const section: Section | undefined = Object.hasOwn(sections, name)
    ? sections[name as keyof typeof sections]
    : undefined;
  if (!section) return {};
  const known = made.get(name);
  if (known) return known;
  const { $schema: _, ...schema } = z.toJSONSchema(section.schema, { io: 'input', unrepresentable: 'any' });
  made.set(name, schema);
  return schema;
}

function memberOf({ properties, additionalProperties }: JsonSchema, member: string): JsonSchema {
  const own = isObject(properties) && Object.hasOwn(properties, member) ? properties[member] : undefined;
  const schema = own ?? additionalProperties;
  return isObject(schema) ? schema : {};
}
