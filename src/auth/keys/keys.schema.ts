import { z } from 'zod';
import { plainName, seconds } from '../../core/wire.ts';

/** A key as its owner sees it after creation, without the key itself. */
export const ApiKeyView = z
  .object({
    id: z.string(),
    name: z.string(),
    /** The last characters. */
    masked: z.string(),
    allowed_endpoints: z.array(z.string()).nullable(),
    expires_at: z.int().nullable(),
    last_used_at: z.int().nullable(),
    created_at: z.int(),
  })
  .meta({ id: 'ApiKey', description: 'An API key; times are Unix seconds' });
export type ApiKeyView = z.infer<typeof ApiKeyView>;

export const NewApiKeyView = ApiKeyView.extend({ api_key: z.string() }).meta({
  id: 'NewApiKey',
  description: 'A new API key, the only time that it is shown',
});

const endpoint = () =>
  z
    .string()
    .max(512)
    .regex(
      /^\/(api|v1|ws|metrics)(\/[^\s,?#%\\]*)?$/,
      'must be a path such as /api/v1/channels, without a query or escapes',
    );

export const newKeyInput = z.object({
  name: plainName(100).describe('Unique among the keys of the account'),
  expires_at: seconds()
    .max(2 ** 31 - 1)
    .nullish()
    .describe('Unix seconds, in the future; without it the key does not expire'),
  allowed_endpoints: z
    .array(endpoint())
    .min(1)
    .max(100)
    .nullish()
    .describe('Paths that the key may call, each with all below it; without it every path'),
});
export type NewKeyInput = z.infer<typeof newKeyInput>;
