import type { OpenAI } from 'openai';
import type { Scope } from '../core/scope.ts';
import type { ResolvedModel } from '../models/models.resolve.ts';
import { mergeParams, withSystem } from './completions.prompt.ts';
import type { CompletionEvent, CompletionRequest, CompletionUsage } from './completions.types.ts';

/**
 * Runs one turn. Leaving the loop, or the signal, ends it: the connection to the provider closes.
 *
 * @throws from the first step or a later one: model_not_found, budget_exceeded, rate_limited, provider_failed, provider_timeout
 */
export async function* complete(scope: Scope, request: CompletionRequest): AsyncGenerator<CompletionEvent> {
  const { model, signal } = request;
  const startedAt = performance.now();
  const stream = await scope.providers.chat({
    model: model.provider.id,
    params: {
      ...mergeParams(model, request.params),
      messages: withSystem(request.messages, model.system),
    },
    person: scope.actor.id,
    signal,
  });
  let firstTokenMs: number | null = null;
  let finishReason = 'stop';
  let usage: CompletionUsage | null = null;
  for await (const chunk of stream) {
    chunk.model = model.id;
    const choice = chunk.choices?.[0];
    if (firstTokenMs === null && choice && hasToken(choice.delta))
      firstTokenMs = performance.now() - startedAt;
    if (choice?.finish_reason) finishReason = choice.finish_reason;
    if (chunk.usage) usage = readUsage(chunk.usage);
    yield { type: 'chunk', chunk };
  }
  yield {
    type: 'end',
    finish_reason: finishReason,
    usage,
    first_token_ms: firstTokenMs,
    total_ms: performance.now() - startedAt,
    rounds: 1,
    tools_offered: true,
  };
}

type Delta = OpenAI.ChatCompletionChunk.Choice.Delta & { reasoning_content?: unknown; reasoning?: unknown };

const hasToken = (delta: Delta | undefined): boolean =>
  !!(delta?.content || delta?.reasoning_content || delta?.reasoning || delta?.tool_calls);

function readUsage(usage: OpenAI.CompletionUsage): CompletionUsage {
  const { prompt_tokens = 0, completion_tokens = 0 } = usage;
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    cached_tokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
  };
}

/** Embeddings by a model, recorded and within the budgets like a turn. @throws as `complete` */
export async function embed(
  scope: Scope,
  {
    model,
    params,
    signal,
  }: { model: ResolvedModel; params: Omit<OpenAI.EmbeddingCreateParams, 'model'>; signal: AbortSignal },
): Promise<OpenAI.CreateEmbeddingResponse> {
  const { connection: _, ...answer } = await scope.providers.embed({
    model: model.provider.id,
    params,
    person: scope.actor.id,
    signal,
  });
  return { ...answer, model: model.id };
}
