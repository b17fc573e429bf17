import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { until } from './poll.ts';
import type { Person, TestServer } from './server.ts';

/**
 * A provider of models that speaks OpenAI's wire format over a real socket and does what a test tells it: what no small model can be
 * relied on for (calls of tools, failures, slow and broken streams).
 */
export interface ScriptedProvider {
  /** The base address, with `/v1`. */
  url: string;
  /** What `GET /v1/models` lists; tests may change it. */
  models: Record<string, unknown>[];
  /** All requests so far, also those for the list. */
  requests: ProviderRequest[];
  /** How many connections were opened so far. */
  connections: number;
  /** The requests for completions so far. */
  chats(): ProviderRequest[];
  /** Answers requests for completions from now on; without a script the provider says `Hello from <model>.` */
  script(answer: Script): void;
  /** Answers `GET /v1/models` from now on; null lists `models` again. */
  scriptList(answer: Script | null): void;
  /** The same for `POST /v1/embeddings`. */
  scriptEmbeddings(answer: Script | null): void;
  close(): Promise<void>;
}

type Script = (request: ProviderRequest, wire: Wire) => unknown;

export interface ProviderRequest {
  path: string;
  headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: the test says what it expects
  body: any;
  /** The connection closed before the answer was complete. */
  isCut: boolean;
  /** Resolves when the connection of the request closes. */
  closed: Promise<void>;
}

/** Starts a provider with these models. */
export async function startProvider(...ids: string[]): Promise<ScriptedProvider> {
  const open = new Set<ServerResponse>();
  let script: Script = (request, wire) => wire.say(`Hello from ${request.body.model}.`);
  let list: Script | null = null;
  const embedAll: Script = (request, wire) => wire.json(200, embeddings(request.body));
  let embed = embedAll;
  const provider = {
    models: (ids.length > 0 ? ids : ['small']).map((id) => ({
      id,
      object: 'model',
      created: 1,
      owned_by: 'test',
    })),
    requests: [] as ProviderRequest[],
    connections: 0,
  };

  const server = createServer(async (incoming, response) => {
    open.add(response);
    const closed = new Promise<void>((resolve) => response.once('close', resolve));
    const sent = await text(incoming).catch(() => '');
    const { url: path = '', headers } = incoming;
    const request = { path, headers, body: sent === '' ? undefined : JSON.parse(sent), isCut: false, closed };
    response.once('close', () => {
      open.delete(response);
      request.isCut = !response.writableFinished;
    });
    provider.requests.push(request);
    const wire = new Wire(request, response);
    if (path.endsWith('/chat/completions')) await script(request, wire);
    else if (path.endsWith('/embeddings')) await embed(request, wire);
    else if (list) await list(request, wire);
    else wire.json(200, { object: 'list', data: provider.models });
  });
  server.on('connection', () => {
    provider.connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return Object.assign(provider, {
    url: `http://127.0.0.1:${port}/v1`,
    chats: () => provider.requests.filter(({ path }) => path.endsWith('/chat/completions')),
    script(answer: Script) {
      script = answer;
    },
    scriptList(answer: Script | null) {
      list = answer;
    },
    scriptEmbeddings(answer: Script | null) {
      embed = answer ?? embedAll;
    },
    async close() {
      for (const response of open) response.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

const embeddings = ({ model, input }: { model: string; input: string | string[] }) => ({
  object: 'list',
  model,
  data: [input].flat().map((one, index) => ({ object: 'embedding', index, embedding: [one.length, 1, 0] })),
  usage: { prompt_tokens: 3, total_tokens: 3 },
});

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

/** What a script sends as the answer to one request. */
export class Wire {
  readonly #request: ProviderRequest;
  readonly #response: ServerResponse;

  constructor(request: ProviderRequest, response: ServerResponse) {
    this.#request = request;
    this.#response = response;
  }

  /** How many bytes the server has not taken yet, beside the buffers of the connection. */
  get unsent(): number {
    return this.#response.writableLength;
  }

  /** A whole answer: the text word by word, the end, the usage. */
  say(words: string): void {
    for (const word of words.match(/\s*\S+/g) ?? []) this.delta({ content: word });
    this.finish();
  }

  /** One chunk with this delta, such as `{ content: 'Hel' }` or `{ reasoning_content: 'Hm' }`. */
  delta(delta: object, finish_reason: string | null = null): void {
    this.chunk({ choices: [{ index: 0, delta, finish_reason }] });
  }

  /** Calls of tools in one chunk, and the end of the answer. */
  call(...calls: { name: string; arguments: unknown; id?: string }[]): void {
    const tool_calls = calls.map(({ name, arguments: args, id }, index) => ({
      index,
      id: id ?? `call_${index}`,
      type: 'function',
      function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
    }));
    this.delta({ role: 'assistant', content: null, tool_calls });
    this.finish('tool_calls');
  }

  /** The last chunks, with the usage when the request asks for it. */
  finish(reason = 'stop', usage: object = USAGE): void {
    this.delta({}, reason);
    if (this.#request.body?.stream_options?.include_usage) this.chunk({ choices: [], usage });
    this.line('[DONE]');
    this.#response.end();
  }

  /** One chunk with these members. */
  chunk(members: object): void {
    const { model } = this.#request.body ?? {};
    const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model };
    this.line(JSON.stringify({ ...head, ...members }));
  }

  /** One event of the stream with this text. */
  line(data: string): void {
    this.raw(`data: ${data}\n\n`);
  }

  /** Bytes of the stream as they are. */
  raw(bytes: string | Buffer): void {
    if (!this.#response.headersSent) this.#response.writeHead(200, { 'content-type': 'text/event-stream' });
    this.#response.write(bytes);
  }

  /** A whole answer that is no stream. */
  json(status: number, body: unknown, headers: Record<string, string> = {}): void {
    this.#response.writeHead(status, { 'content-type': 'application/json', ...headers });
    this.#response.end(typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body));
  }

  /** Ends the answer as it is. */
  end(): void {
    this.#response.end();
  }

  /** Cuts the connection. */
  cut(): void {
    this.#response.destroy();
  }
}

/** The settings of one connection, as `api_configs` takes them. */
export type ConnectionSettings = Record<string, unknown>;

/**
 * Makes these providers the connections of a server, with their settings, and waits until the server has their lists of models.
 */
export async function connectProviders(
  server: TestServer,
  administrator: Pick<Person, 'token'>,
  ...providers: [Pick<ScriptedProvider, 'url'>, ConnectionSettings?][]
): Promise<void> {
  const ask = server.as(administrator);
  const { body } = await ask('GET /configs/export');
  body.hosted_model_api = {
    enable: providers.length > 0,
    api_base_urls: providers.map(([{ url }]) => url),
    api_keys: providers.map((_, index) => `key-${index}`),
    api_configs: Object.fromEntries(providers.map(([, settings = {}], index) => [index, settings])),
  };
  const { status, body: answer } = await ask('POST /configs/import', body);
  if (status !== 200) throw new Error(`The import answered ${status}: ${JSON.stringify(answer)}`);
  await until('the lists of models', async () => {
    const { body: connections } = await ask('GET /providers');
    return connections.every(({ state }: { state: string }) => state !== 'asking');
  });
}

/** The same for one provider. */
export const connectProvider = (
  server: TestServer,
  administrator: Pick<Person, 'token'>,
  provider: Pick<ScriptedProvider, 'url'>,
  settings: ConnectionSettings = {},
): Promise<void> => connectProviders(server, administrator, [provider, settings]);
