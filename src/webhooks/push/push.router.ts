import { z } from 'zod';
import { member, router } from '../../core/trpc/trpc.ts';
import { id } from '../../core/wire.ts';
import { PushSubscriptionView, pushForm } from './push.schema.ts';
import { listOwn, publicKey, subscribe, unsubscribe } from './push.service.ts';

const tags = ['notifications'];
const signedIn = member.meta({ access: 'member', credential: 'session' });

export const pushRouter = router({
  key: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/user/push/key',
        tags,
        summary: 'Get the key with which browsers subscribe to notifications',
        description:
          'The `applicationServerKey` of `PushManager.subscribe()`, as base64url. It stays the same; a browser ' +
          'that is subscribed with another one must subscribe again. 404 where `features.enable_web_push` of ' +
          '`GET /config` is false.',
        errorResponses: [404],
      },
      access: 'member',
    })
    .output(z.object({ public_key: z.string() }))
    .query(({ ctx }) => ({ public_key: publicKey(ctx.scope) })),

  list: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/user/push',
        tags,
        summary: "List the caller's browsers that receive notifications",
        description:
          'The latest first, at most 10. `is_current` marks the one that was subscribed in the session of this ' +
          'call; `url` shows only the push service.',
      },
      access: 'member',
    })
    .output(z.array(PushSubscriptionView))
    .query(({ ctx }) => listOwn(ctx.scope)),

  subscribe: signedIn
    .meta({
      openapi: {
        method: 'POST',
        path: '/users/user/push',
        tags,
        summary: 'Send notifications to this browser',
        description:
          'Takes `PushSubscription.toJSON()` of the browser. It then gets messages by the rules of the webhook of ' +
          'a person: by notification level and mentions, while the person has no open event connection. The ' +
          'subscription ends with this session, and when the push service says that it is gone. The same ' +
          'endpoint is stored once; an eleventh browser replaces the oldest. 404 where web push is not set up.',
        errorResponses: [404],
      },
      access: 'member',
    })
    .input(pushForm)
    .output(PushSubscriptionView)
    .mutation(({ ctx, input }) => subscribe(ctx.scope, input)),

  unsubscribe: member
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/users/user/push/{id}',
        tags,
        summary: 'Send no more notifications to a browser',
        description: "For one of the caller's browsers. A repeat is answered with 404.",
      },
      access: 'member',
    })
    .input(z.object({ id: id() }))
    .output(z.boolean())
    .mutation(({ ctx, input }) => unsubscribe(ctx.scope, input.id)),
});
