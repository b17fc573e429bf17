import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { FunctionSpec, JsonSchema } from '../python/protocol.ts';

export interface ToolMeta {
  description: string | null;
  /** The frontmatter of the source. */
  manifest: Record<string, unknown>;
  /** Texts in other languages, by locale. */
  i18n?: Record<string, Record<string, string>>;
  /** Other members that clients sent. */
  [member: string]: unknown;
}

/** A Python module of a user, with its specification as of the last save. */
export const Tool = defineEntity({
  name: 'Tool',
  tableName: 'tool',
  properties: {
    id: p.text().primary(),
    user_id: p.uuid().index(),
    name: p.text(),
    content: p.text().lazy(),
    /** The number of the source: 1 at first, one more with each change of `content`. */
    version: p.integer().default(1),
    meta: p.json<ToolMeta>(),
    /** `json`, here and below, keeps the order of declarations in the source; `jsonb` sorts them. */
    specs: p.json<FunctionSpec[]>().columnType('json'),
    /** JSON schema of the class `Valves`; null without one. */
    valves_schema: p.json<JsonSchema | null>().columnType('json').nullable(),
    user_valves_schema: p.json<JsonSchema | null>().columnType('json').nullable(),
    /** The set values of `Valves`, as sealed JSON; null when none were ever set. */
    valves: p.text().lazy().nullable(),
    /**
     * The packages to install for the tool, in the form of the Python side; without those of the environment.
     */
    requirements: p.json<string[]>().default('[]'),
    /**
     * False until the packages are installed and the source was loaded with them: specs and schemas are empty
     * until then.
     */
    is_described: p.boolean().default(true),
    created_at: p.integer(),
    updated_at: p.integer(),
  },
});

export type ToolEntity = InferEntity<typeof Tool>;
