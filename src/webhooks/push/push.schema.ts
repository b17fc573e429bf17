import { z } from 'zod';
import { name, seconds } from '../../core/wire.ts';

const ENDPOINT_CHARACTERS = 2_048;
const base64url = (characters: number, what: string) =>
  z.string().regex(new RegExp(`^[A-Za-z0-9_-]{${characters}}=?=?$`), `must be ${what} as base64url`);

/** What `PushSubscription.toJSON()` gives in a browser. */
export const pushForm = z.object({
  endpoint: name(ENDPOINT_CHARACTERS)
    .describe('The https address of the push service for this browser')
    .meta({ examples: ['https://push.example.com/send/4f1c'] }),
  keys: z.object({
    // The examples are those of RFC 8291, 5.
    p256dh: base64url(87, 'a public key of P-256, 65 bytes').meta({
      examples: ['BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4'],
    }),
    auth: base64url(22, 'a secret of 16 bytes').meta({ examples: ['BTBZMqHH6r4Tts7J_aSIgg'] }),
  }),
  expirationTime: z
    .number()
    .nullish()
    .describe('Ignored: the push service says when a subscription has ended'),
});
export type PushForm = z.infer<typeof pushForm>;

/** A browser that receives the notifications of a person. */
export const PushSubscriptionView = z
  .object({
    id: z.string(),
    /** The push service: the rest of the address is a secret. */
    url: z.string(),
    /** The User-Agent of the program. */
    user_agent: z.string(),
    created_at: seconds(),
    /** Whether it was subscribed in the session of this call. */
    is_current: z.boolean(),
  })
  .meta({ id: 'PushSubscription' });
export type PushSubscriptionView = z.infer<typeof PushSubscriptionView>;
