import { z } from 'zod';
import { administrator, member, router } from '../../core/trpc/trpc.ts';
import { id } from '../../core/wire.ts';
import { ApiKeyView, NewApiKeyView, newKeyInput } from './keys.schema.ts';
import {
  createApiKey,
  deleteApiKey,
  deleteDefaultKey,
  getDefaultKey,
  listApiKeys,
  listApiKeysOf,
  replaceDefaultKey,
} from './keys.service.ts';

/** Requires a session: a key that could create keys would outlive its own expiry. */
const signedIn = member.meta({ access: 'member', credential: 'session' });
const signedInAdministrator = administrator.meta({ access: 'administrator', credential: 'session' });

/** For clients that know only one key: the key named `default`. */
const DefaultKey = z.object({ api_key: z.string() });

export const keysRouter = router({
  list: signedIn
    .meta({
      openapi: {
        method: 'GET',
        path: '/auths/api_keys',
        tags: ['auths'],
        summary: "List the caller's API keys",
        description:
          'Newest first, all at once; expired keys are included. The keys themselves are not stored: ' +
          '`masked` shows only the last four characters.',
      },
      access: 'member',
    })
    .output(z.array(ApiKeyView))
    .query(({ ctx }) => listApiKeys(ctx.scope)),

  create: signedIn
    .meta({
      openapi: {
        method: 'POST',
        path: '/auths/api_keys',
        tags: ['auths'],
        summary: 'Create an API key',
        description:
          'Answers the key in `api_key`, the only time that it can be read. An account has at most 100 ' +
          'keys, each with a name of its own: a taken name and a key too many are answered 400. Refused ' +
          'with 403 where API keys are switched off (`auth.enable_api_keys`) or the caller lacks the ' +
          'permission. The key acts as its account; some operations, marked with `x-credential: ' +
          'session`, refuse keys.',
      },
      access: 'permission:features.api_keys',
    })
    .input(newKeyInput)
    .output(NewApiKeyView)
    .mutation(({ ctx, input }) => createApiKey(ctx.scope, input)),

  delete: signedIn
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/auths/api_keys/{id}',
        tags: ['auths'],
        summary: "Revoke one of the caller's API keys",
        description:
          'The key stops working at once, and sockets that were opened with it are closed. A repeat, ' +
          'and the key of another account, are answered 404.',
      },
      access: 'member',
    })
    .input(z.object({ id: id() }))
    .output(z.boolean())
    .mutation(({ ctx, input }) => deleteApiKey(ctx.scope, { userId: ctx.scope.actor.id, id: input.id })),

  getDefault: signedIn
    .meta({
      openapi: {
        method: 'GET',
        path: '/auths/api_key',
        tags: ['auths'],
        summary: 'Get the API key named `default`: always 404',
        description:
          'For clients that know one key for each account. A key can be read only when it is made, so ' +
          'the answer is always 404; `detail` tells whether the key exists and shows its last four ' +
          'characters.',
        errorResponses: [404],
      },
      access: 'member',
    })
    .output(DefaultKey)
    .query(({ ctx }) => getDefaultKey(ctx.scope)),

  replaceDefault: signedIn
    .meta({
      openapi: {
        method: 'POST',
        path: '/auths/api_key',
        tags: ['auths'],
        summary: 'Create or replace the API key named `default`',
        description:
          'Answers the new key, the only time that it can be read. A former key of this name is revoked ' +
          'in the same transaction, and sockets that were opened with it are closed. Refused with 403 ' +
          'where API keys are switched off or the caller lacks the permission, and with 400 for an ' +
          'account that already has 100 other keys.',
        errorResponses: [400],
      },
      access: 'permission:features.api_keys',
    })
    .output(DefaultKey)
    .mutation(({ ctx }) => replaceDefaultKey(ctx.scope)),

  deleteDefault: signedIn
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/auths/api_key',
        tags: ['auths'],
        summary: 'Revoke the API key named `default`',
        description:
          'The key stops working at once, and sockets that were opened with it are closed. Answers true ' +
          'also when there is no such key.',
      },
      access: 'member',
    })
    .output(z.boolean())
    .mutation(({ ctx }) => deleteDefaultKey(ctx.scope)),

  listOf: signedInAdministrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/{id}/api_keys',
        tags: ['users'],
        summary: 'List the API keys of an account',
        description:
          'Newest first, all at once, expired keys included; only the last four characters of a key are ' +
          'shown. The list is empty for an account that does not exist.',
      },
      access: 'administrator',
    })
    .input(z.object({ id: id() }))
    .output(z.array(ApiKeyView))
    .query(({ ctx, input }) => listApiKeysOf(ctx.scope, input.id)),

  deleteOf: signedInAdministrator
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/users/{id}/api_keys/{key_id}',
        tags: ['users'],
        summary: 'Revoke an API key of an account',
        description:
          'The key stops working at once, and sockets that were opened with it are closed. A repeat, ' +
          'and a key of another account than `id`, are answered 404.',
      },
      access: 'administrator',
    })
    .input(z.object({ id: id(), key_id: id() }))
    .output(z.boolean())
    .mutation(({ ctx, input }) => deleteApiKey(ctx.scope, { userId: input.id, id: input.key_id })),
});
