import { z } from 'zod';
import { defineTerms, server } from '../core/terms.ts';
import { httpUrl as url } from '../core/wire.ts';

const flag = z.boolean();
const seconds = z.number().positive().max(86_400);

/** The settings of one connection. The names of the first ones are Open WebUI's; members that this version does not know are kept. */
export const ConnectionSettings = z.looseObject({
  enable: flag.nullish(),
  /** Its models get this and a dot in front of their ids. */
  prefix_id: z.string().max(64).regex(/^\S*$/, 'must not hold white space').nullish(),
  /** The models that it offers; the provider is not asked for its list. */
  model_ids: z.array(z.string().min(1).max(256)).max(10_000).nullish(),
  tags: z.array(z.union([z.string(), z.looseObject({ name: z.string() })])).nullish(),
  connection_type: z.enum(['external', 'local']).nullish(),
  auth_type: z.string().nullish(),
  headers: z.record(z.string(), z.string()).nullish(),
  /** What people see of it; `Provider 1` or `Ollama 1`, by its place, unless given. */
  name: z.string().max(128).nullish(),
  /** Added to each request; null removes a member that the server would send. */
  extra_params: z.record(z.string(), z.unknown()).nullish(),
  /** How many calls are under way at once; the others wait. */
  concurrency: z.int().positive().max(10_000).nullish(),
  first_token_seconds: seconds.nullish(),
  between_tokens_seconds: seconds.nullish(),
  total_seconds: seconds.nullish(),
});

const api_configs = z.record(z.string(), ConnectionSettings);

export const terms = defineTerms({
  sections: {
    local_model_server: {
      schema: z.looseObject({ enable: flag, base_urls: z.array(url), api_configs }),
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
        api_configs,
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
