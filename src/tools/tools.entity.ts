import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { FunctionSpec, JsonSchema } from '../python/protocol.ts';

export interface ToolMeta {
  description: string | null;
  manifest: Record<string, unknown>;
}

/** A Python module of a user, with what was read from it when it was saved. */
export const Tool = defineEntity({
  name: 'Tool',
  tableName: 'tool',
  properties: {
    id: p.text().primary(),
    user_id: p.uuid().index(),
    name: p.text(),
    content: p.text().lazy(),
    /** The number of its source: 1 at first, one more with each change of `content`. */
    version: p.integer().default(1),
    meta: p.json<ToolMeta>(),
    /** `json`, here and below, keeps the order in which the source declares things; `jsonb` sorts them. */
    specs: p.json<FunctionSpec[]>().columnType('json'),
    /** JSON schema of the class `Valves`; null without one. */
    valves_schema: p.json<JsonSchema | null>().columnType('json').nullable(),
    user_valves_schema: p.json<JsonSchema | null>().columnType('json').nullable(),
    /** The values of `Valves` that were set, as JSON, sealed; null when none ever were. */
    valves: p.text().lazy().nullable(),
    /** The packages that have to be installed for it, as the Python side writes them; none for what is here anyway. */
    requirements: p.json<string[]>().default('[]'),
    /** False until its packages are installed and the source was loaded with them: specs and schemas are empty till then. */
    is_described: p.boolean().default(true),
    created_at: p.integer(),
    updated_at: p.integer(),
  },
});

export type ToolEntity = InferEntity<typeof Tool>;
