import { z } from 'zod';
import { httpUrl } from '../core/wire.ts';
import { ConnectionSettings } from './providers.terms.ts';

export const ConnectionView = z
  .object({
    name: z.string(),
    kind: z.enum(['hosted', 'ollama', 'board']),
    url: z.string(),
    state: z.enum(['asking', 'ok', 'failed']).meta({
      description: 'Of its list of models; `asking` until the provider has answered for the first time',
    }),
    detail: z.string().meta({ description: 'Why the provider did not answer; empty otherwise' }),
    models: z.int().meta({ description: 'How many models it offers' }),
    running: z.int().meta({ description: 'Calls under way in this process' }),
    waiting: z.int().meta({ description: 'Calls that wait for a place in this process' }),
  })
  .meta({ id: 'ProviderConnection' });

export const TestInput = z.object({
  kind: z.enum(['hosted', 'ollama']).default('hosted'),
  url: httpUrl,
  key: z
    .string()
    .max(4096)
    .nullish()
    .meta({ description: 'The key that is stored for this address unless given' }),
  config: ConnectionSettings.nullish(),
  model: z
    .string()
    .max(256)
    .nullish()
    .meta({ description: 'The model that is asked for a token; the first of the list unless given' }),
});

const STEPS = ['resolve', 'connect', 'authorise', 'models', 'first_token'] as const;

export const TestReport = z
  .object({
    ok: z.boolean(),
    steps: z
      .array(
        z.object({
          step: z.enum(STEPS),
          ok: z.boolean(),
          detail: z.string(),
          duration_ms: z.number(),
        }),
      )
      .meta({ description: 'In their order; the first one that fails is the last' }),
  })
  .meta({ id: 'ProviderTest' });
export type TestReport = z.infer<typeof TestReport>;
