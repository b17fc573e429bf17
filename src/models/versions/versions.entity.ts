import { defineEntity, p } from '@mikro-orm/core';
import { Model, type ModelSnapshot } from '../models.entity.ts';

/** One state of a record, with the person that saved it. */
export const ModelVersion = defineEntity({
  name: 'ModelVersion',
  tableName: 'model_version',
  properties: {
    id: p.uuid().primary(),
    model: () => p.manyToOne(Model).deleteRule('cascade'),
    version: p.integer(),
    /** The account may be deleted. */
    user_id: p.uuid(),
    snapshot: p.json<ModelSnapshot>().columnType('json'),
    /** The author's description of the change. */
    commit_message: p.text().nullable(),
    created_at: p.integer(),
  },
  uniques: [{ name: 'model_version_number', properties: ['model', 'version'] }],
});
