import { defineNoun } from '../noun.ts';
import { barredFrom, explainPlain } from './models.access.ts';
import { passOnModels } from './models.deletion.repository.ts';
import { Model } from './models.entity.ts';
import { errors } from './models.errors.ts';
import { grantableModels } from './models.policy.ts';
import { modelsRouter } from './models.router.ts';
import { modelTransferRouter } from './transfer/transfer.router.ts';
import { ModelVersion } from './versions/versions.entity.ts';
import { modelVersionsRouter } from './versions/versions.router.ts';
import { modelWorkspaceRouter } from './workspace/workspace.router.ts';

export const models = defineNoun({
  name: 'models',
  errors,
  routers: {
    models: modelsRouter,
    modelTransfer: modelTransferRouter,
    modelVersions: modelVersionsRouter,
    modelWorkspace: modelWorkspaceRouter,
  },
  entities: [Model, ModelVersion],
  onAccountDeleted: passOnModels,
  grantable: { ...grantableModels, barred: barredFrom, withoutRow: explainPlain },
});
