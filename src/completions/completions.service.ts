import type { OpenAI } from 'openai';
import { AppError } from '../core/errors.ts';
import { expectLong } from '../core/limits/calls.ts';
import type { Scope } from '../core/scope.ts';
import type { ResolvedModel } from '../models/models.resolve.ts';
import { fillPrompt } from '../models/prompt.variables.ts';
import type { ChatMessage, ChatStream } from '../providers/providers.types.ts';
import { addUsage, EmbeddingAccount, outcomeOf, TurnAccount, toUsage } from './completions.account.ts';
import { mergeParams, withoutOtherModels, withSystem } from './completions.prompt.ts';
import type { CompletionEvent, CompletionRequest } from './completions.types.ts';
import { Round } from './round.ts';
import { RunningCalls } from './tool.calls.ts';
import { contextOf } from './tool.context.ts';
import { type Offer, offerTools } from './tool.offer.ts';

/** Rounds with tools; one without follows. */
const MOST_ROUNDS = 10;
/** How often in a row a model may make the same calls. */
const MOST_REPEATS = 2;

/**
 * Runs one turn. Leaving the loop, or the signal, ends it: the connection to the provider closes.
 *
 * @throws from the first step or a later one: not_found for a tool, model_not_found, budget_exceeded, rate_limited, provider_failed,
 *   provider_timeout
 */
export function complete(scope: Scope, request: CompletionRequest): AsyncGenerator<CompletionEvent> {
  return new Turn(scope, request).run();
}

/** One turn of a model: its rounds, each an answer of the provider and then the calls of tools in it. */
class Turn {
  readonly #scope: Scope;
  readonly #request: CompletionRequest;
  readonly #account: TurnAccount;
  /** The calls of the last round, and how often they came in a row. */
  #lastCalls = '';
  #repeats = 0;

  constructor(scope: Scope, request: CompletionRequest) {
    this.#scope = scope;
    this.#request = request;
    this.#account = new TurnAccount(scope, request.model, request.context?.kind ?? 'api');
  }

  // One generator for all rounds: each further one between provider and client would cost time per token.
  async *run(): AsyncGenerator<CompletionEvent> {
    const { model, messages: asked, timeZone, signal, onAsk } = this.#request;
    const account = this.#account;
    let outcome = 'cancelled';
    let toolContext: ReturnType<typeof contextOf> | undefined;
    try {
      expectLong();
      const offer = await offerTools(this.#scope, this.#request);
      const system = model.system && (await fillPrompt(this.#scope, model.system, timeZone));
      const messages = withSystem(asked, system);
      for (;;) {
        const isLast = account.rounds >= MOST_ROUNDS || this.#repeats > MOST_REPEATS;
        const place = { isFirst: account.rounds === 0, isLast };
        const round = new Round(offer, place);
        const before = account.usage;
        const stream = await this.#ask(round, { messages, params: paramsOf(this.#request, offer, place) });
        for await (const chunk of stream) {
          if (!round.take(chunk)) continue;
          chunk.model = model.id;
          if (chunk.usage && before) chunk.usage = toUsage(addUsage(before, round.usage) ?? before);
          yield { type: 'chunk', chunk };
        }
        if (!round.goesOn) {
          if (isLast && !round.hasAnswer) throw this.#withoutAnswer();
          const end = this.#end(round, offer);
          await account.close('ok');
          yield end;
          return;
        }
        toolContext ??= contextOf(this.#scope, this.#request);
        const calls = new RunningCalls(this.#scope, offer, {
          context: toolContext,
          calls: round.calls,
          onAsk,
        });
        for await (const call of calls.run(signal, this.#refusalOf(round))) yield { type: 'tool', call };
        messages.push(round.message, ...calls.messages);
      }
    } catch (error) {
      outcome = outcomeOf(error, signal);
      throw error;
    } finally {
      await account.close(outcome);
    }
  }

  async #ask(
    round: Round,
    sent: { messages: ChatMessage[]; params: Record<string, unknown> },
  ): Promise<ChatStream> {
    const { model, signal } = this.#request;
    await this.#account.begin({ ...sent, messages: [...sent.messages] }, round);
    const stream = await this.#scope.providers.chat({
      model: model.provider.id,
      params: { ...sent.params, messages: sent.messages },
      person: this.#scope.actor.id,
      signal,
    });
    this.#account.answered(stream.connection);
    this.#request.onAnswer?.(stream.connection);
    return stream;
  }

  /** The sentence for a model that makes the same calls again and again. */
  #refusalOf({ calls }: Round): string | undefined {
    const key = JSON.stringify(calls.map(({ name, arguments: text }) => [name, text]));
    this.#repeats = key === this.#lastCalls ? this.#repeats + 1 : 1;
    this.#lastCalls = key;
    if (this.#repeats <= MOST_REPEATS) return undefined;
    return 'The same call was made before, with the same arguments. Answer from the results that are there.';
  }

  #withoutAnswer(): AppError {
    const { model } = this.#request;
    const how =
      this.#repeats > MOST_REPEATS
        ? 'made the same calls of tools again and again'
        : `called tools ${MOST_ROUNDS} times in a row`;
    this.#scope.log.warn(
      { model: model.id, connection: this.#account.connection },
      'A model called tools only, and gave no answer.',
    );
    return new AppError('provider_failed', { detail: `The model ${how}, and gave no answer.` });
  }

  #end(round: Round, offer: Offer): CompletionEvent {
    const { usage, firstTokenMs, totalMs, rounds } = this.#account;
    return {
      type: 'end',
      finish_reason: round.finishReason ?? 'stop',
      usage,
      first_token_ms: firstTokenMs,
      total_ms: totalMs,
      rounds,
      tools_offered: offer.isPossible,
    };
  }
}

/** The request to the provider without its messages. */
function paramsOf(
  { model, params }: CompletionRequest,
  { tools }: Offer,
  { isFirst, isLast }: { isFirst: boolean; isLast: boolean },
): Record<string, unknown> {
  const merged = mergeParams(model, params);
  if (tools.length === 0) return merged;
  const own = Array.isArray(merged.tools) ? merged.tools : [];
  if (!isLast) merged.tools = [...own, ...tools];
  else if (own.length === 0) delete merged.tools;
  // A choice that was forced once would be forced in each round.
  if (!isFirst || (isLast && own.length === 0)) delete merged.tool_choice;
  if (isLast && own.length === 0) delete merged.parallel_tool_calls;
  return merged;
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
  const account = new EmbeddingAccount(scope, model, params);
  try {
    await account.begin();
    const { connection, ...answer } = await scope.providers.embed({
      model: model.provider.id,
      params: withoutOtherModels(params),
      person: scope.actor.id,
      signal,
    });
    await account.close('ok', { connection, usage: answer.usage });
    return { ...answer, model: model.id };
  } catch (error) {
    await account.close(outcomeOf(error, signal));
    throw error;
  }
}
