import { z } from 'zod';
import type { Meta } from '../../core/trpc/meta.ts';
import { administrator, member, router } from '../../core/trpc/trpc.ts';
import { Banner, PromptSuggestion, ToolServer } from '../configs.terms.ts';
import {
  AdminSettings,
  BannerSettings,
  ConnectionSettings,
  ModelSettings,
  SuggestionSettings,
  TerminalServerSettings,
  ToolServerSettings,
  VisibilitySettings,
  WebhookSettings,
} from './parts.schema.ts';
import { readPart, writePart } from './parts.service.ts';
import { verifyToolServer } from './servers.service.ts';

type Path = `/${string}`;
interface Words {
  summary: string;
  description: string;
}
const openapi = (method: 'GET' | 'POST', path: Path, words: Words): Meta => ({
  openapi: { method, path, tags: ['configs'], ...words, ...(method === 'POST' && { errorResponses: [409] }) },
  access: 'administrator',
});

/*
 * Procedures that read and replace a part. The compiler does not know the schema here, and so not the type of the output; the schema
 * still checks each answer.
 */
interface Part<S extends z.ZodObject, A extends z.ZodObject> {
  sent: S;
  absent: Readonly<Record<string, unknown>>;
  refused?: z.ZodRawShape;
  inForce: A;
}
const get = <S extends z.ZodObject, A extends z.ZodObject>(path: Path, words: Words, part: Part<S, A>) =>
  administrator
    .meta(openapi('GET', path, words))
    .output(part.inForce)
    .query(({ ctx }) => ({ ...readPart(ctx.scope, part.sent), ...part.absent }) as never);
const set = <S extends z.ZodObject, A extends z.ZodObject>(path: Path, words: Words, part: Part<S, A>) =>
  administrator
    .meta(openapi('POST', path, words))
    .input(part.sent.extend(part.refused ?? {}))
    .output(part.inForce)
    .mutation(async ({ ctx, input }) => {
      const inForce = await writePart(ctx.scope, part.sent, input as z.output<S>);
      return { ...inForce, ...part.absent } as never;
    });

/** Parts of the configuration by themselves, as clients of comparable systems read and replace them. */
export const partsRouter = router({
  admin: get(
    '/auths/admin/config',
    {
      summary: 'Get the settings of accounts and features',
      description:
        'The values in force, by their names in comparable systems. Members that stand for features which ' +
        'this server does not have, such as `ENABLE_NOTES`, have fixed values. `faults` is there if ' +
        'stored values cannot be used; the defaults are in force for them.',
    },
    AdminSettings,
  ),
  setAdmin: set(
    '/auths/admin/config',
    {
      summary: 'Replace the settings of accounts and features',
      description:
        'Optional members that are not sent stay, and no other setting changes. Members that stand for ' +
        'features which this server does not have are ignored, but `ENABLE_MFA: true` answers 400. Returns the settings ' +
        'in force, which later calls use at once. 409 means that an environment variable pins a setting ' +
        'that would change; nothing is stored then.',
    },
    AdminSettings,
  ),
  connections: get(
    '/configs/connections',
    {
      summary: 'Get the settings of connections to models',
      description:
        'Whether the list of models is kept between requests, and whether clients offer connections of their ' +
        'own, which this server only stores. `GET /openai/config` has the connections of the server.',
    },
    ConnectionSettings,
  ),
  setConnections: set(
    '/configs/connections',
    {
      summary: 'Replace the settings of connections to models',
      description:
        'Both members are required. Returns the settings in force. 409 means that an environment variable ' +
        'pins a setting that would change; nothing is stored then.',
    },
    ConnectionSettings,
  ),
  models: get(
    '/configs/models',
    {
      summary: 'Get the settings of the list of models',
      description:
        'The default and the pinned models (ids, comma-separated), the order of the list, and the default ' +
        'metadata and parameters.',
    },
    ModelSettings,
  ),
  setModels: set(
    '/configs/models',
    {
      summary: 'Replace the settings of the list of models',
      description:
        'Optional members that are not sent stay; a null returns its setting to the default. Returns the ' +
        'settings in force. 409 means that an environment variable pins a setting that would change; ' +
        'nothing is stored then.',
    },
    ModelSettings,
  ),
  toolServers: get(
    '/configs/tool_servers',
    {
      summary: 'Get the connections to tool servers',
      description:
        'In the stored order; keys and other secrets are masked. This server only stores the connections: ' +
        'it does not call their tools.',
    },
    ToolServerSettings,
  ),
  setToolServers: set(
    '/configs/tool_servers',
    {
      summary: 'Replace the connections to tool servers',
      description:
        'Replaces the whole list; an empty list removes all connections. A mask keeps the stored secret of ' +
        'the same address, and answers 400 if there is none. Returns the list in force, secrets masked. ' +
        'The servers are not called: `POST /configs/tool_servers/verify` tests one. 409 means that an ' +
        'environment variable pins the list.',
    },
    ToolServerSettings,
  ),
  verifyToolServer: administrator
    .meta({
      openapi: {
        method: 'POST',
        path: '/configs/tool_servers/verify',
        tags: ['configs'],
        summary: 'Test the connection to a tool server',
        description:
          'Fetches the OpenAPI document of the server and returns it; nothing is stored. A mask in place ' +
          'of a secret stands for the stored one of the same address. 400 means that the type is not ' +
          '`openapi`, the address is not public, or the answer is not an OpenAPI document in JSON of at ' +
          'most 4 MiB; 502 that the server cannot be reached; 504 that it took longer than 10 s.',
        errorResponses: [502, 504],
      },
      access: 'administrator',
    })
    .input(ToolServer)
    .output(z.record(z.string(), z.unknown()))
    .mutation(({ ctx, input }) => verifyToolServer(ctx.scope, input)),

  modelDefaults: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/configs/models/defaults',
        tags: ['configs'],
        summary: 'Get the default metadata of models',
        description:
          'Returns the setting `models.default_metadata`, for models that have no metadata of their own.',
      },
      access: 'member',
    })
    .output(z.object({ DEFAULT_MODEL_METADATA: z.record(z.string(), z.unknown()) }))
    .query(({ ctx }) => ({ DEFAULT_MODEL_METADATA: ctx.scope.configs.current.models.default_metadata })),

  terminalServers: get(
    '/configs/terminal_servers',
    {
      summary: 'Get the connections to terminal servers',
      description:
        'In the stored order; keys and other secrets are masked. This server only stores the connections ' +
        'for clients.',
    },
    TerminalServerSettings,
  ),
  setTerminalServers: set(
    '/configs/terminal_servers',
    {
      summary: 'Replace the connections to terminal servers',
      description:
        'Replaces the whole list of free-form objects; an empty list removes all connections. A mask keeps ' +
        'the stored secret of the same address or id, and answers 400 if there is none. Returns the list ' +
        'in force, secrets masked. 409 means that an environment variable pins the list.',
    },
    TerminalServerSettings,
  ),
  webhook: get(
    '/webhook',
    {
      summary: 'Get the webhook address for new accounts',
      description:
        'The server posts a message to this address when a person signs up, by password, LDAP or a ' +
        'provider; not when an administrator creates the account. An empty text means that there is no ' +
        'address. The address is not masked.',
    },
    WebhookSettings,
  ),
  setWebhook: set(
    '/webhook',
    {
      summary: 'Replace the webhook address for new accounts',
      description:
        'An empty text removes the address. Only a public http(s) address is accepted, else the answer is ' +
        '400. The address is not called by this operation. 409 means that an environment variable pins it.',
    },
    WebhookSettings,
  ),

  setSuggestions: administrator
    .meta(
      openapi('POST', '/configs/suggestions', {
        summary: 'Replace the suggestions for a first prompt',
        description:
          'Replaces the whole list and returns it; an empty list removes all. Clients get it from `GET ' +
          '/config`. 409 means that an environment variable pins the list.',
      }),
    )
    .input(SuggestionSettings)
    .output(z.array(PromptSuggestion))
    .mutation(async ({ ctx, input }) => (await writePart(ctx.scope, SuggestionSettings, input)).suggestions),

  setBanners: administrator
    .meta(
      openapi('POST', '/configs/banners', {
        summary: 'Replace the notices that clients show',
        description:
          'Replaces the whole list and returns it; an empty list removes all. Accounts get it from `GET ' +
          '/configs/banners` and `GET /config`. 409 means that an environment variable pins the list.',
      }),
    )
    .input(BannerSettings)
    .output(z.array(Banner))
    .mutation(async ({ ctx, input }) => (await writePart(ctx.scope, BannerSettings, input)).banners),

  setVisibility: administrator
    .meta(
      openapi('POST', '/configs/interface/visibility', {
        summary: 'Replace which parts of the interface clients show',
        description:
          'Replaces the whole object, whose names belong to the client, and returns it. Accounts get it ' +
          'as `ui.visibility` from `GET /config`. 409 means that an environment variable pins the setting.',
      }),
    )
    .input(VisibilitySettings)
    .output(VisibilitySettings)
    .mutation(async ({ ctx, input }) => {
      const { visibility } = await writePart(ctx.scope, VisibilitySettings, input);
      return { visibility };
    }),
});
