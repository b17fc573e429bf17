import { randomUUID } from 'node:crypto';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { json } from 'node:stream/consumers';
import { CONTEXT_TOKENS, errorBody, MODEL_ID } from '../wire.ts';
import type { ChatTurn, Generated, Model } from './model.ts';
import { ChatRequest, samplingOf } from './request.ts';

/** What the model was trained to see before the first turn. */
const FIRST: ChatTurn = {
  role: 'system',
  content: 'You are a helpful AI assistant named SmolLM, trained by Hugging Face',
};

/** An answer other than 200, in the shape of OpenAI's errors. */
class Refusal extends Error {
  readonly status: number;
  readonly body: object;
  constructor(status: number, message: string, code: string | null, param: string | null = null) {
    super(message);
    this.status = status;
    this.body = errorBody(message, status < 500 ? 'invalid_request_error' : 'server_error', code, param);
  }
}

/** The handler of `POST /v1/chat/completions`. One generation runs at a time; the others wait in their order. */
export function answerCalls(model: Model) {
  let last: Promise<unknown> = Promise.resolve();
  return async (request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> => {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    response.on('error', () => {});
    try {
      const call = await readCall(request);
      const turn = last.then(() => answer(model, call, response, gone.signal));
      last = turn.catch(() => {});
      await turn;
    } catch (error) {
      if (!gone.signal.aborted) fail(response, error);
    }
  };
}

async function readCall(request: Http2ServerRequest): Promise<ChatRequest> {
  if (request.method !== 'POST' || request.url !== '/v1/chat/completions') {
    throw new Refusal(404, `The model on board does not know ${request.method} ${request.url}.`, null);
  }
  const body = await json(request).catch(() => {
    throw new Refusal(400, 'The body is not JSON.', null);
  });
  const parsed = ChatRequest.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const at = issue?.path.join('.') ?? '';
  if (at === 'model') throw new Refusal(404, `The model on board is ${MODEL_ID}.`, 'model_not_found', at);
  throw new Refusal(400, at ? `${at}: ${issue?.message}` : String(issue?.message), null, at || null);
}

async function answer(
  model: Model,
  call: ChatRequest,
  response: Http2ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  const turns = call.messages[0]?.role === 'system' ? call.messages : [FIRST, ...call.messages];
  const prompt = model.tokenize(turns);
  // The library needs one token of room, and the answer has at least one.
  if (prompt.length > CONTEXT_TOKENS - 2) {
    const message = `The messages have ${prompt.length} tokens. This model sees ${CONTEXT_TOKENS}, with its answer.`;
    throw new Refusal(400, message, 'context_length_exceeded', 'messages');
  }
  const writer = call.stream ? new StreamWriter(response, call) : new WholeWriter(response);
  const generated = await model.generate(prompt, {
    ...samplingOf(call),
    signal,
    onText: (text) => writer.add(text),
  });
  writer.end(generated, usageOf(prompt.length, generated));
}

const usageOf = (promptTokens: number, { completionTokens, cachedTokens }: Generated) => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  total_tokens: promptTokens + completionTokens,
  prompt_tokens_details: { cached_tokens: cachedTokens },
});
type Usage = ReturnType<typeof usageOf>;

const envelope = (object: string) => ({
  id: `chatcmpl-${randomUUID()}`,
  object,
  created: Math.floor(Date.now() / 1000),
  model: MODEL_ID,
});

/** Answers with one JSON object. */
class WholeWriter {
  readonly #response: Http2ServerResponse;
  #text = '';
  constructor(response: Http2ServerResponse) {
    this.#response = response;
  }

  add(text: string): void {
    this.#text += text;
  }

  end({ finishReason }: Generated, usage: Usage): void {
    const message = { role: 'assistant', content: this.#text, refusal: null };
    const choices = [{ index: 0, message, logprobs: null, finish_reason: finishReason }];
    writeJson(this.#response, 200, { ...envelope('chat.completion'), choices, usage });
  }
}

/** Answers with server-sent events. */
class StreamWriter {
  readonly #response: Http2ServerResponse;
  readonly #withUsage: boolean;
  readonly #envelope = envelope('chat.completion.chunk');
  constructor(response: Http2ServerResponse, { stream_options: options }: ChatRequest) {
    this.#response = response;
    this.#withUsage = options?.include_usage ?? false;
  }

  add(content: string): void {
    this.#begin();
    this.#write([{ index: 0, delta: { content }, finish_reason: null }]);
  }

  end({ finishReason }: Generated, usage: Usage): void {
    this.#begin();
    this.#write([{ index: 0, delta: {}, finish_reason: finishReason }]);
    if (this.#withUsage) this.#write([], { usage });
    this.#response.end('data: [DONE]\n\n');
  }

  /** Not before the first token, so that a failure until then has a status. */
  #begin(): void {
    if (this.#response.headersSent) return;
    this.#response.writeHead(200, { 'content-type': 'text/event-stream' });
    this.#write([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]);
  }

  #write(choices: object[], more: object = {}): void {
    this.#response.write(`data: ${JSON.stringify({ ...this.#envelope, choices, ...more })}\n\n`);
  }
}

function writeJson(response: Http2ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function fail(response: Http2ServerResponse, error: unknown): void {
  const refusal =
    error instanceof Refusal ? error : new Refusal(500, 'The model on board failed.', 'model_failed');
  if (refusal !== error) process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
  if (response.headersSent) response.end(`data: ${JSON.stringify(refusal.body)}\n\n`);
  else writeJson(response, refusal.status, refusal.body);
}
