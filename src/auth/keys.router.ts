import { z } from 'zod';
import { administrator, member, router } from '../core/trpc.ts';
import { id } from '../core/wire.ts';
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

/** A key that could make others would outlive its own end. */
const signedIn = member.meta({ access: 'member', credential: 'session' });
const signedInAdministrator = administrator.meta({ access: 'administrator', credential: 'session' });

/** Of clients that know of one key only: it is the one named `default`. */
const DefaultKey = z.object({ api_key: z.string() });

export const keysRouter = router({
  list: signedIn
    .meta({
      openapi: { method: 'GET', path: '/auths/api_keys', tags: ['auths'], summary: "The caller's API keys" },
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
        summary: 'Make an API key; it is shown this once',
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
        summary: 'Revoke an API key of the caller',
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
        summary: 'The API key named `default`: always 404, since a key is shown only when it is made',
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
        summary: 'Make the API key named `default`, in place of the one before',
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
        summary: 'The API keys of an account',
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
      },
      access: 'administrator',
    })
    .input(z.object({ id: id(), key_id: id() }))
    .output(z.boolean())
    .mutation(({ ctx, input }) => deleteApiKey(ctx.scope, { userId: input.id, id: input.key_id })),
});
