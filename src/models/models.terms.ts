import { z } from 'zod';
import { defineTerms, server } from '../core/terms.ts';

const freeObject = z.record(z.string(), z.unknown());

export const terms = defineTerms({
  sections: {
    models: {
      schema: z.looseObject({
        base_models_cache: z.boolean(),
        default_metadata: freeObject,
        default_params: freeObject,
        /** Optional: exports of other systems do not have it. */
        open_provider_models: z.boolean().optional(),
      }),
      defaults: {
        base_models_cache: true,
        default_metadata: {},
        default_params: {},
        open_provider_models: false,
      },
      settings: {
        base_models_cache: server('The list of models is kept between requests'),
        default_metadata: server('Metadata of models that have none of their own'),
        default_params: server('Parameters of models that have none of their own'),
        open_provider_models: server('All members may use provider models that have no record'),
      },
    },
  },
  permissions: {
    workspace: { models: false, models_import: false, models_export: false },
    sharing: { public_models: false },
  },
  grantable: 'model',
});
