import { z } from 'zod';
import { administrator, member, open, router } from '../core/trpc/trpc.ts';
import { id, name, page } from '../core/wire.ts';
import {
  ClientConfiguration,
  clientConfiguration,
  describeVersion,
  Version,
} from './client/configs.client.ts';
import { ConfigurationExplained, explainConfiguration } from './configs.explain.ts';
import {
  ConfigurationChange,
  ConfigurationComparison,
  compareConfigurations,
  configurationHistory,
} from './configs.history.ts';
import {
  exportConfiguration,
  importConfiguration,
  readNamespace,
  rollbackConfiguration,
} from './configs.service.ts';
import { Banner } from './configs.terms.ts';
import { Configuration } from './settings/configs.schema.ts';

const secrets = z.boolean().optional().describe('Answers secrets in clear instead of masks');

/** The sent object may be older, incomplete, or of another system, so the service checks it. */
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
        summary: 'Get the complete configuration',
        description:
          'The configuration in force, values that environment variables pin included. Secrets are masked ' +
          'unless `secrets` is true. `POST /configs/import` takes the answer; a mask then stands for the ' +
          'stored secret.',
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
        summary: 'Replace the complete configuration',
        description:
          'Takes an export of this server, an export of a comparable system, or a flat object of dotted ' +
          'names, which changes only the settings that it names. A missing member of a complete object ' +
          'answers 400 unless `fill` is `defaults`. A mask keeps the stored secret of the same address or ' +
          'id. 409 means that the import would change a setting that an environment variable pins. The ' +
          'configuration is in force on the answer, and becomes an entry of the history. ' +
          '`X-Changed-Settings` names what changed; with `dry_run`, what would change, and nothing is ' +
          'stored. Imports at the same time are stored one after the other.',
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
        summary: 'Get the settings below a dotted prefix',
        description:
          'Returns a flat object of dotted names with the values in force; secrets are masked. `ollama` ' +
          'and `openai` also name the sections `local_model_server` and `hosted_model_api`. An unknown ' +
          'prefix gives an empty object.',
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
        summary: 'List the changes of the configuration',
        description:
          'Newest first; the last 100 changes are kept. An entry names the changed settings, the account ' +
          'and the time, and whether it is in force. With `path`, only the changes of that setting or section are ' +
          'listed, each with its `value` after the change; secrets are masked.',
      },
      access: 'administrator',
    })
    .input(z.object({ path: name().optional().describe('A setting, or a section of them'), ...page }))
    .output(z.array(ConfigurationChange))
    .query(({ ctx, input }) => configurationHistory(ctx.scope, input)),

  compare: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/configs/compare',
        tags: ['configs'],
        summary: 'Compare two configurations of the history',
        description:
          'Answers the settings that differ, each with its value `before` (in `from_id`) and `after` (in `to_id`, ' +
          'or as it is stored now). Secrets are masked: a secret that differs is listed with two equal masks. ' +
          'Values that environment variables pin are not considered. An entry that is no longer kept answers 404.',
        errorResponses: [404],
      },
      access: 'administrator',
    })
    .input(z.object({ from_id: id(), to_id: id().optional() }))
    .output(ConfigurationComparison)
    .query(({ ctx, input }) => compareConfigurations(ctx.scope, input)),

  rollback: administrator
    .meta({
      openapi: {
        method: 'POST',
        path: '/configs/rollback',
        tags: ['configs'],
        summary: 'Restore an earlier configuration',
        description:
          'Puts the configuration of an entry of the history in force again, secrets included, as a new ' +
          'entry. Values that environment variables pin stay. Returns the configuration in force, secrets ' +
          'masked unless `secrets` is true. An entry that is no longer kept answers 404.',
        errorResponses: [404],
      },
      access: 'administrator',
    })
    .input(z.object({ id: id().describe('An entry of the history'), secrets }))
    .output(Configuration)
    .mutation(({ ctx, input }) => rollbackConfiguration(ctx.scope, input)),

  explain: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/configs/explain',
        tags: ['configs'],
        summary: 'Explain every setting',
        description:
          'For each setting: its value in force (secrets are masked), its default, the source of the ' +
          'value, when and by which account it was set, the environment variable that pins it, whether the ' +
          'server or its clients use it, and its meaning. A setting whose source is `default` follows the ' +
          'default of later versions, too. Settings that this version does not know come last. `faults` lists ' +
          'stored values that cannot be used, in whose place the defaults are in force.',
      },
      access: 'administrator',
    })
    .output(ConfigurationExplained)
    .query(({ ctx }) => explainConfiguration(ctx.scope)),

  banners: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/configs/banners',
        tags: ['configs'],
        summary: 'List the notices that clients show',
        description: 'Returns the setting `ui.banners`, in the order in which administrators stored them.',
      },
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
        summary: 'Get the configuration for clients',
        description:
          'Needs no credentials. Every caller gets the name and version of the server, the sign-in ' +
          'methods, and `onboarding`, which is true while there is no account. An approved account also ' +
          'gets its permissions, all features, banners, prompt suggestions and defaults of models; an ' +
          'account that waits for approval gets the texts of its waiting page. An expired token counts as ' +
          'none.',
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
        summary: 'Get the running version for an update check',
        description: 'The server does not look up newer versions, so `latest` is always null.',
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
        summary: 'Get the changes of each release',
        description: 'Always an empty object: no release has a changelog yet.',
      },
      access: 'open',
    })
    .output(z.record(z.string(), z.unknown()))
    .query(() => ({})),

  version: open
    .meta({
      openapi: {
        method: 'GET',
        path: '/version',
        tags: ['configs'],
        summary: 'Get the running version',
        description:
          'Needs no credentials. `deployment_id` identifies this installation; it stays the same after ' +
          'updates and restarts.',
      },
      access: 'open',
    })
    .output(Version)
    .query(({ ctx }) => describeVersion(ctx.scope)),
});
