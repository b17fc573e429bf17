import type { OpenAI } from 'openai';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import type { ResolvedModel } from '../models/models.resolve.ts';
import type { ChatMessage } from '../providers/providers.types.ts';
import { AccountedCall } from '../usage/usage.calls.ts';
import type { Tokens } from '../usage/usage.prices.ts';
import type { CompletionUsage } from './completions.types.ts';
import { countOf, tokensIn, tokensOf } from './tokens.ts';

/** What an answer is expected to have where the request sets no limit. */
const TOKENS_OF_ANSWER = 1_000;
/** The most that is reserved for an answer. */
const MOST_TOKENS = 1_000_000_000;

/** What one round of a turn sends. */
interface Sent {
  messages: readonly ChatMessage[];
  params: Record<string, unknown>;
}

/** What came of it so far. */
interface Got {
  usage: CompletionUsage | null;
  /** Characters. */
  written: number;
}

/** What a turn uses, as the provider counts it, otherwise by estimate. */
export class TurnAccount {
  readonly #call: AccountedCall;
  readonly #startedAt = performance.now();
  readonly #rounds: { sent: Sent; got: Got }[] = [];
  #firstTokenMs: number | null = null;
  #connection: string | null = null;
  #isOpen = true;

  constructor(scope: Scope, model: Pick<ResolvedModel, 'id' | 'provider'>, kind: string) {
    this.#call = new AccountedCall(scope, { model: { id: model.id, provider: model.provider.id }, kind });
  }

  get firstTokenMs(): number | null {
    return this.#firstTokenMs;
  }

  get connection(): string | null {
    return this.#connection;
  }

  get totalMs(): number {
    return performance.now() - this.#startedAt;
  }

  get rounds(): number {
    return this.#rounds.length;
  }

  /** The sum of all rounds; null where the provider counted none. */
  get usage(): CompletionUsage | null {
    return this.#rounds.map(({ got }) => got.usage).reduce(addUsage, null);
  }

  /** Before a round. @throws budget_exceeded */
  async begin(sent: Sent, got: Got): Promise<void> {
    await this.#call.reserve(() => {
      const used = this.#used();
      return {
        ...used,
        in: used.in + tokensIn(sent.messages, sent.params.tools),
        out: used.out + tokensOfAnswer(sent.params),
      };
    });
    this.#rounds.push({ sent, got });
  }

  /** The first token of a round is there. */
  answered(connection: string): void {
    this.#connection = connection;
    this.#firstTokenMs ??= this.totalMs;
  }

  /** Stores the call. Further calls do nothing. */
  async close(outcome: string): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (this.#rounds.length === 0) {
      if (outcome === 'budget_exceeded') this.#call.refuse();
      return;
    }
    const hasAnswer = this.#firstTokenMs !== null || outcome === 'cancelled';
    await this.#call.close({
      outcome,
      connection: this.#connection,
      tokens: hasAnswer ? this.#used() : NO_TOKENS,
      isEstimated: this.#rounds.some(({ got }) => got.usage === null),
      firstTokenMs: this.#firstTokenMs,
      totalMs: this.totalMs,
      rounds: this.#rounds.length,
    });
  }

  /** What the rounds so far have taken. */
  #used(): Tokens {
    const tokens = { ...NO_TOKENS };
    for (const { sent, got } of this.#rounds) {
      const { usage, written } = got;
      tokens.in += usage?.prompt_tokens ?? tokensIn(sent.messages, sent.params.tools);
      tokens.cached += usage?.cached_tokens ?? 0;
      tokens.out += usage?.completion_tokens ?? tokensOf(written);
    }
    return tokens;
  }
}

const NO_TOKENS: Tokens = { in: 0, cached: 0, out: 0 };

/** What a request for embeddings uses. */
export class EmbeddingAccount {
  readonly #call: AccountedCall;
  readonly #startedAt = performance.now();
  readonly #expected: number;
  #isBegun = false;

  constructor(
    scope: Scope,
    model: Pick<ResolvedModel, 'id' | 'provider'>,
    { input }: Pick<OpenAI.EmbeddingCreateParams, 'input'>,
  ) {
    this.#call = new AccountedCall(scope, {
      model: { id: model.id, provider: model.provider.id },
      kind: 'embedding',
    });
    // A text, a list of texts, a list of tokens, or a list of such lists.
    const items = [input].flat(2) as (string | number)[];
    this.#expected = items.reduce<number>(
      (sum, one) => sum + (typeof one === 'string' ? tokensOf(one.length) : 1),
      0,
    );
  }

  /** @throws budget_exceeded */
  async begin(): Promise<void> {
    await this.#call.reserve(() => ({ ...NO_TOKENS, in: this.#expected }));
    this.#isBegun = true;
  }

  /** Stores the call. @param answer undefined when there is none */
  async close(
    outcome: string,
    answer?: { connection: string; usage: OpenAI.CreateEmbeddingResponse.Usage | undefined },
  ): Promise<void> {
    if (!this.#isBegun) {
      if (outcome === 'budget_exceeded') this.#call.refuse();
      return;
    }
    this.#isBegun = false;
    const counted = countOf(answer?.usage?.prompt_tokens);
    const totalMs = performance.now() - this.#startedAt;
    await this.#call.close({
      outcome,
      connection: answer?.connection ?? null,
      tokens: { in: answer ? (counted ?? this.#expected) : 0, cached: 0, out: 0 },
      isEstimated: answer !== undefined && counted === undefined,
      firstTokenMs: answer ? totalMs : null,
      totalMs,
      rounds: 1,
    });
  }
}

/** How a turn ended that threw this. */
export const outcomeOf = (error: unknown, signal: AbortSignal): string =>
  signal.aborted ? 'cancelled' : error instanceof AppError ? error.code : 'internal';

function tokensOfAnswer({ max_completion_tokens, max_tokens, n }: Record<string, unknown>): number {
  const limits = [max_completion_tokens, max_tokens].flatMap((value) => amountOf(value) ?? []);
  const most = limits.length > 0 ? Math.max(...limits) : TOKENS_OF_ANSWER;
  return Math.min(most * Math.max(1, amountOf(n) ?? 1), MOST_TOKENS);
}

/** Some providers take numbers as text. */
function amountOf(value: unknown): number | undefined {
  const amount = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof amount === 'number' && amount >= 0 ? Math.ceil(amount) : undefined;
}

export const addUsage = (a: CompletionUsage | null, b: CompletionUsage | null): CompletionUsage | null =>
  a && b
    ? {
        prompt_tokens: a.prompt_tokens + b.prompt_tokens,
        completion_tokens: a.completion_tokens + b.completion_tokens,
        total_tokens: a.total_tokens + b.total_tokens,
        cached_tokens: a.cached_tokens + b.cached_tokens,
      }
    : (a ?? b);

/** In OpenAI's shape. */
export const toUsage = ({ cached_tokens, ...usage }: CompletionUsage) => ({
  ...usage,
  prompt_tokens_details: { cached_tokens },
});
