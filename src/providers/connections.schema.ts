import { z } from 'zod';
import { httpUrl } from '../core/wire.ts';
import { ConnectionSettings } from './providers.terms.ts';

/*
 * The connections under the names that they have in comparable systems. `PATHS` has the setting that each is.
 */

const configs = z
  .record(z.string(), ConnectionSettings)
  .optional()
  .meta({ description: 'Settings of each, by its place in the list or its address' });

export const HostedConnections = z
  .object({
    ENABLE_OPENAI_API: z.boolean().optional(),
    OPENAI_API_BASE_URLS: z.array(httpUrl),
    OPENAI_API_KEYS: z.array(z.string().max(4096)),
    OPENAI_API_CONFIGS: configs,
  })
  .meta({ id: 'HostedConnections' });

export const OllamaConnections = z
  .object({
    ENABLE_OLLAMA_API: z.boolean().optional(),
    OLLAMA_BASE_URLS: z.array(httpUrl),
    OLLAMA_API_CONFIGS: configs,
  })
  .meta({ id: 'OllamaConnections' });

export const VerifyInput = z.object({
  url: httpUrl,
  key: z
    .string()
    .max(4096)
    .nullish()
    .meta({ description: 'The key that is stored for this address unless given' }),
  config: ConnectionSettings.nullish(),
});

export const VerifiedModels = z
  .object({
    object: z.literal('list'),
    data: z.array(z.looseObject({ id: z.string() })).meta({ description: 'As the provider lists them' }),
  })
  .meta({ id: 'VerifiedModels' });

export const VerifiedOllama = z.object({ version: z.string() }).meta({ id: 'VerifiedOllama' });
