import { z } from 'zod';
import { administrator, member, open, router } from '../core/trpc.ts';
import { id, name, page } from '../core/wire.ts';
import { ClientConfiguration, clientConfiguration, describeVersion, Version } from './configs.client.ts';
import { ConfigurationExplained, explainConfiguration } from './configs.explain.ts';
import { ConfigurationChange, configurationHistory } from './configs.history.ts';
import { Banner, Configuration } from './configs.schema.ts';
import {
  exportConfiguration,
  importConfiguration,
  readNamespace,
  rollbackConfiguration,
} from './configs.service.ts';

/** Answers with the secrets in clear instead of masks. */
const secrets = z.boolean().optional();

/** What is sent may be older, of another system or incomplete, so the service is what checks it. */
const sent = z.record(z.string(), z.unknown()).meta({
  override({ jsonSchema }) {
    for (const word of Object.keys(jsonSchema)) delete jsonSchema[word as 'type'];
    jsonSchema.$ref = '#/components/schemas/Configuration';
  },
});

export const configsRouter = router({
  export: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/configs/export',
        tags: ['configs'],
        summary: 'The complete configuration',
      },
      access: 'administrator',
    })
    .input(z.object({ secrets }))
    .output(Configuration)
    .query(({ ctx, input }) => exportConfiguration(ctx.scope, input)),

  import: administrator
    .meta({
      openapi: {
        method: 'POST',
        path: '/configs/import',
        tags: ['configs'],
        summary:
          'Replace the complete configuration; `X-Changed-Settings` names what changed, and with `dry_run` what would',
        bodyMember: 'config',
        acceptWrapped: true,
        errorResponses: [409],
      },
      access: 'administrator',
    })
    .input(
      z.object({
        config: sent,
        fill: z.enum(['defaults']).optional(),
        secrets,
        dry_run: z.boolean().optional(),
      }),
    )
    .output(Configuration)
    .mutation(({ ctx, input }) => importConfiguration(ctx.scope, input)),

  namespace: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/configs/namespace/{namespace}',
        tags: ['configs'],
        summary: 'The settings below a dotted prefix, by their dotted names; secrets are masked',
      },
      access: 'administrator',
    })
    .input(z.object({ namespace: name() }))
    .output(z.record(z.string(), z.unknown()))
    .query(({ ctx, input }) => readNamespace(ctx.scope, input.namespace)),

  history: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/configs/history',
        tags: ['configs'],
        summary: 'The last changes of the configuration, newest first',
      },
      access: 'administrator',
    })
    .input(z.object(page))
    .output(z.array(ConfigurationChange))
    .query(({ ctx, input }) => configurationHistory(ctx.scope, input)),

  rollback: administrator
    .meta({
      openapi: {
        method: 'POST',
        path: '/configs/rollback',
        tags: ['configs'],
        summary: 'Put an earlier configuration in force again',
        errorResponses: [404],
      },
      access: 'administrator',
    })
    .input(z.object({ id: id(), secrets }))
    .output(Configuration)
    .mutation(({ ctx, input }) => rollbackConfiguration(ctx.scope, input)),

  explain: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/configs/explain',
        tags: ['configs'],
        summary: 'Every setting with its value, where that comes from, and who acts on it',
      },
      access: 'administrator',
    })
    .output(ConfigurationExplained)
    .query(({ ctx }) => explainConfiguration(ctx.scope)),

  banners: member
    .meta({
      openapi: { method: 'GET', path: '/configs/banners', tags: ['configs'], summary: 'The notices to show' },
      access: 'member',
    })
    .output(z.array(Banner))
    .query(({ ctx }) => ctx.scope.configs.current.ui.banners),

  client: open
    .meta({
      openapi: {
        method: 'GET',
        path: '/config',
        tags: ['configs'],
        summary: 'What a client needs at its start; more for those who are signed in',
      },
      access: 'open',
    })
    .output(ClientConfiguration)
    .query(({ ctx }) => clientConfiguration(ctx.scope)),

  updates: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/version/updates',
        tags: ['configs'],
        summary: 'Which version runs; the newest is not looked up, so `latest` is null',
      },
      access: 'member',
    })
    .output(z.object({ current: z.string(), latest: z.null() }))
    .query(({ ctx }) => ({ current: describeVersion(ctx.scope).version, latest: null })),

  changelog: open
    .meta({
      openapi: {
        method: 'GET',
        path: '/changelog',
        tags: ['configs'],
        summary: 'What changed in each release; empty until there is one',
      },
      access: 'open',
    })
    .output(z.record(z.string(), z.unknown()))
    .query(() => ({})),

  version: open
    .meta({
      openapi: { method: 'GET', path: '/version', tags: ['configs'], summary: 'Which version runs' },
      access: 'open',
    })
    .output(Version)
    .query(({ ctx }) => describeVersion(ctx.scope)),
});
