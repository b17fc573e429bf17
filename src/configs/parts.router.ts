import { z } from 'zod';
import { administrator, type Meta, member, router } from '../core/trpc.ts';
import { Banner, PromptSuggestion, ToolServer } from './configs.schema.ts';
import {
  AdminSettings,
  BannerSettings,
  ConnectionSettings,
  ModelSettings,
  SuggestionSettings,
  TerminalServerSettings,
  ToolServerSettings,
  WebhookSettings,
} from './parts.schema.ts';
import { readPart, writePart } from './parts.service.ts';
import { verifyToolServer } from './servers.service.ts';

type Path = `/${string}`;
const openapi = (method: 'GET' | 'POST', path: Path, summary: string): Meta => ({
  openapi: { method, path, tags: ['configs'], summary, ...(method === 'POST' && { errorResponses: [409] }) },
  access: 'administrator',
});

/*
 * Reading and replacing a part. What tRPC expects of an output depends on the schema, which the compiler does not know here; the
 * schema itself still checks each answer.
 */
interface Part<S extends z.ZodObject, A extends z.ZodObject> {
  sent: S;
  absent: Readonly<Record<string, unknown>>;
  refused?: z.ZodRawShape;
  inForce: A;
}
const get = <S extends z.ZodObject, A extends z.ZodObject>(path: Path, summary: string, part: Part<S, A>) =>
  administrator
    .meta(openapi('GET', path, summary))
    .output(part.inForce)
    .query(({ ctx }) => ({ ...readPart(ctx.scope, part.sent), ...part.absent }) as never);
const set = <S extends z.ZodObject, A extends z.ZodObject>(path: Path, summary: string, part: Part<S, A>) =>
  administrator
    .meta(openapi('POST', path, summary))
    .input(part.sent.extend(part.refused ?? {}))
    .output(part.inForce)
    .mutation(async ({ ctx, input }) => {
      const inForce = await writePart(ctx.scope, part.sent, input as z.output<S>);
      return { ...inForce, ...part.absent } as never;
    });

/** Parts of the configuration by themselves, as clients of comparable systems read and replace them. */
export const partsRouter = router({
  admin: get('/auths/admin/config', 'Settings of accounts and of what is offered', AdminSettings),
  setAdmin: set(
    '/auths/admin/config',
    'Replace the settings of accounts and of what is offered',
    AdminSettings,
  ),
  connections: get('/configs/connections', 'Settings of connections to models', ConnectionSettings),
  setConnections: set(
    '/configs/connections',
    'Replace the settings of connections to models',
    ConnectionSettings,
  ),
  models: get('/configs/models', 'Which models come first, and what they begin with', ModelSettings),
  setModels: set(
    '/configs/models',
    'Replace which models come first, and what they begin with',
    ModelSettings,
  ),
  toolServers: get(
    '/configs/tool_servers',
    'Connections to tool servers; keys are masked',
    ToolServerSettings,
  ),
  setToolServers: set(
    '/configs/tool_servers',
    'Replace the connections to tool servers; a masked key stays as it is',
    ToolServerSettings,
  ),
  verifyToolServer: administrator
    .meta({
      openapi: {
        method: 'POST',
        path: '/configs/tool_servers/verify',
        tags: ['configs'],
        summary: 'Ask a tool server for its OpenAPI description; nothing is stored',
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
        summary: 'Metadata of models that have none of their own',
      },
      access: 'member',
    })
    .output(z.object({ DEFAULT_MODEL_METADATA: z.record(z.string(), z.unknown()) }))
    .query(({ ctx }) => ({ DEFAULT_MODEL_METADATA: ctx.scope.configs.current.models.default_metadata })),

  terminalServers: get(
    '/configs/terminal_servers',
    'Connections to terminal servers; keys are masked',
    TerminalServerSettings,
  ),
  setTerminalServers: set(
    '/configs/terminal_servers',
    'Replace the connections to terminal servers; a masked key stays as it is',
    TerminalServerSettings,
  ),
  webhook: get('/webhook', 'The address that is told of new accounts', WebhookSettings),
  setWebhook: set('/webhook', 'Replace the address that is told of new accounts', WebhookSettings),

  setSuggestions: administrator
    .meta(openapi('POST', '/configs/suggestions', 'Replace the suggestions for a first prompt'))
    .input(SuggestionSettings)
    .output(z.array(PromptSuggestion))
    .mutation(async ({ ctx, input }) => (await writePart(ctx.scope, SuggestionSettings, input)).suggestions),

  setBanners: administrator
    .meta(openapi('POST', '/configs/banners', 'Replace the notices to show'))
    .input(BannerSettings)
    .output(z.array(Banner))
    .mutation(async ({ ctx, input }) => (await writePart(ctx.scope, BannerSettings, input)).banners),
});
