import { z } from 'zod';
import { defineTerms, server } from '../core/terms.ts';
import { httpUrl as url } from '../core/wire.ts';

const flag = z.boolean();
const freeObject = z.record(z.string(), z.unknown());

/** The settings of one connection stand in `api_configs`, under its place in the list or its address (`providers.settings.ts`). */
export const terms = defineTerms({
  sections: {
    local_model_server: {
      schema: z.looseObject({ enable: flag, base_urls: z.array(url), api_configs: freeObject }),
      defaults: { enable: false, base_urls: [], api_configs: {} },
      settings: {
        enable: server('Models of Ollama servers are offered'),
        base_urls: server('Addresses of Ollama servers'),
        api_configs: server('Settings of each, by its place in the list or its address'),
      },
    },
    hosted_model_api: {
      schema: z.looseObject({
        enable: flag,
        api_keys: z.array(z.string()),
        api_base_urls: z.array(url),
        api_configs: freeObject,
      }),
      defaults: { enable: false, api_keys: [], api_base_urls: [], api_configs: {} },
      settings: {
        enable: server('Models of OpenAI-compatible providers are offered'),
        api_keys: server('Keys of the providers, in the order of their addresses'),
        api_base_urls: server('Addresses of OpenAI-compatible providers'),
        api_configs: server('Settings of each, by its place in the list or its address'),
      },
    },
  },
});
