import { readPart, writePart } from '../configs/parts/parts.service.ts';
import type { Meta } from '../core/trpc/meta.ts';
import { administrator, router } from '../core/trpc/trpc.ts';
import {
  HostedConnections,
  OllamaConnections,
  VerifiedModels,
  VerifiedOllama,
  VerifyInput,
} from './connections.schema.ts';
import { settingsWithin } from './connections.settings.ts';
import { verifyHosted, verifyOllama } from './providers.trial.ts';

const described = (
  method: 'GET' | 'POST',
  path: `/${string}`,
  words: { summary: string; description: string; errorResponses?: number[] },
): Meta => ({
  openapi: { method, path, tags: ['providers'], isAtRoot: true, ...words },
  access: 'administrator',
});

const READ =
  'Keys and headers are masked. `POST /providers/test` tells step by step whether a connection works.';
const REPLACE =
  'Replaces the lists; the switch and the settings stay when they are not sent. Keys and settings without an ' +
  'address are dropped. A mask keeps the stored secret of the same address, and answers 400 if there is none. ' +
  'Returns the connections in force. 409 means that an environment variable pins a setting that would change.';
const VERIFY =
  'Nothing is stored. A masked key is the stored one of the same address. 502 means that the server refused the ' +
  'call or sent something else, 504 that it did not answer in time.';

/** The connections as clients of comparable systems read, replace and try them. */
export const connectionsRouter = router({
  hosted: administrator
    .meta(
      described('GET', '/openai/config', {
        summary: 'Get the connections to OpenAI-compatible providers',
        description: READ,
      }),
    )
    .output(HostedConnections)
    .query(({ ctx }) => readPart(ctx.scope, HostedConnections)),

  setHosted: administrator
    .meta(
      described('POST', '/openai/config/update', {
        summary: 'Replace the connections to OpenAI-compatible providers',
        description: REPLACE,
        errorResponses: [409],
      }),
    )
    .input(HostedConnections)
    .output(HostedConnections)
    .mutation(({ ctx, input }) =>
      writePart(ctx.scope, HostedConnections, {
        ...input,
        OPENAI_API_KEYS: input.OPENAI_API_KEYS.slice(0, input.OPENAI_API_BASE_URLS.length),
        OPENAI_API_CONFIGS: settingsWithin(input.OPENAI_API_BASE_URLS, input.OPENAI_API_CONFIGS),
      }),
    ),

  verifyHosted: administrator
    .meta(
      described('POST', '/openai/verify', {
        summary: 'List the models of an OpenAI-compatible provider',
        description: VERIFY,
        errorResponses: [502, 504],
      }),
    )
    .input(VerifyInput)
    .output(VerifiedModels)
    .mutation(({ ctx, input }) => verifyHosted(ctx.scope, input)),

  ollama: administrator
    .meta(
      described('GET', '/ollama/config', {
        summary: 'Get the connections to Ollama servers',
        description: READ,
      }),
    )
    .output(OllamaConnections)
    .query(({ ctx }) => readPart(ctx.scope, OllamaConnections)),

  setOllama: administrator
    .meta(
      described('POST', '/ollama/config/update', {
        summary: 'Replace the connections to Ollama servers',
        description: REPLACE,
        errorResponses: [409],
      }),
    )
    .input(OllamaConnections)
    .output(OllamaConnections)
    .mutation(({ ctx, input }) =>
      writePart(ctx.scope, OllamaConnections, {
        ...input,
        OLLAMA_API_CONFIGS: settingsWithin(input.OLLAMA_BASE_URLS, input.OLLAMA_API_CONFIGS),
      }),
    ),

  verifyOllama: administrator
    .meta(
      described('POST', '/ollama/verify', {
        summary: 'Get the version of an Ollama server',
        description: VERIFY,
        errorResponses: [502, 504],
      }),
    )
    .input(VerifyInput)
    .output(VerifiedOllama)
    .mutation(({ ctx, input }) => verifyOllama(ctx.scope, input)),
});
