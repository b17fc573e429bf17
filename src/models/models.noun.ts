import { defineNoun } from '../noun.ts';
import { passOnModels } from './models.deletion.repository.ts';
import { Model } from './models.entity.ts';
import { grantableModels } from './models.policy.ts';
import { ModelVersion } from './versions/versions.entity.ts';

export const models = defineNoun({
  name: 'models',
  entities: [Model, ModelVersion],
  onAccountDeleted: passOnModels,
  grantable: grantableModels,
});
