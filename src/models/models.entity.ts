import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

export type FreeForm = Record<string, unknown>;

/** What versions of a record keep; grants, picture and state have none. */
export interface ModelSnapshot {
  name: string;
  base_model_id: string | null;
  params: FreeForm;
  meta: FreeForm;
}

/** A record over a model: with a base, a model of its own; without, what this server adds to the provider's model of this id. */
export const Model = defineEntity({
  name: 'Model',
  tableName: 'model',
  properties: {
    /** As its author gave it; ids of provider models hold slashes and colons. */
    id: p.text().primary(),
    user_id: p.uuid().index(),
    base_model_id: p.text().nullable(),
    /**
     * True when an administrator chose the base. The record then leads to a provider model that has no record, for all who may
     * read this one.
     */
    opens_base: p.boolean().default(false),
    name: p.text(),
    /** `json`, here and below, keeps the order of members. */
    params: p.json<FreeForm>().columnType('json'),
    /** Without the picture. */
    meta: p.json<FreeForm>().columnType('json'),
    /** A data URI. */
    picture: p.text().lazy().nullable(),
    is_active: p.boolean().default(true),
    /** 1 at first, one more with each change of what a snapshot keeps. */
    version: p.integer().default(1),
    created_at: p.integer(),
    updated_at: p.integer(),
  },
  indexes: [{ name: 'model_base', properties: ['base_model_id'] }],
});

export type ModelEntity = InferEntity<typeof Model>;
