import { v7 as uuidv7 } from 'uuid';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import { type Window, windowsFor } from './usage.limits.ts';
import { countCall } from './usage.metrics.ts';
import { costOf, type ModelIds, type Tokens } from './usage.prices.ts';
import { type Amounts, recordCall, reserve, settleCall, type WindowKey } from './usage.repository.ts';

declare module '../core/scope.ts' {
  interface Parts {
    readonly usage: {
      /** The calls of this process that have reserved something, which is renewed while they run. */
      readonly held: Set<string>;
    };
  }
}

/** How long a reservation lives unless its process renews it. */
export const HOLD_SECONDS = 300;

/** How a call ended. */
export interface CallEnd {
  outcome: string;
  connection: string | null;
  tokens: Tokens;
  /** The provider counted no tokens. */
  isEstimated: boolean;
  firstTokenMs: number | null;
  totalMs: number;
  rounds: number;
}

/** The record of one call of a model, and what it takes of the budgets. */
export class AccountedCall {
  readonly #scope: Scope;
  readonly #model: ModelIds;
  readonly #kind: string;
  readonly #id = uuidv7();
  #windows: Window[] | undefined;
  /** What is reserved. */
  #held: Amounts = { requests: 0, tokens: 0, cost: 0 };

  constructor(scope: Scope, { model, kind }: { model: ModelIds; kind: string }) {
    this.#scope = scope;
    this.#model = model;
    this.#kind = kind;
  }

  /**
   * Reserves what the next round is expected to take, beside what the rounds so far have taken. Without limits, no statement runs.
   *
   * @throws budget_exceeded with the limit, what remains of it, and when its window ends
   */
  async reserve(tokens: () => Tokens): Promise<void> {
    this.#windows ??= await windowsFor(this.#scope, this.#model, new Date());
    const windows = this.#windows;
    if (windows.length === 0) return;
    const wanted = tokens();
    const total = {
      requests: 1,
      tokens: wanted.in + wanted.out,
      cost: costOf(this.#scope, this.#model, wanted) ?? 0,
    };
    const held = this.#held;
    const amounts = {
      requests: total.requests - held.requests,
      tokens: total.tokens - held.tokens,
      cost: total.cost - held.cost,
    };
    const { sql, usage } = this.#scope;
    const reservation = { callId: this.#id, expiresAt: nowSeconds() + HOLD_SECONDS, windows, amounts };
    await reserve(sql, reservation, (counted) => requireWithin(windows, counted, amounts));
    this.#held = total;
    usage.held.add(this.#id);
  }

  /** For a call that the budgets refused: it is counted, and not stored. */
  refuse(): void {
    countCall({ connection: null, outcome: 'budget_exceeded', tokens: { in: 0, cached: 0, out: 0 } });
  }

  /** Stores the call and settles its reservations. A failure is logged: the caller has its answer. */
  async close(end: CallEnd): Promise<void> {
    const { sql, usage, log, actor } = this.#scope;
    const { tokens, outcome, connection } = end;
    countCall({ connection, outcome, tokens });
    const cost = costOf(this.#scope, this.#model, tokens);
    const call = {
      id: this.#id,
      created_at: nowSeconds(),
      user_id: actor.id,
      model: this.#model.id,
      provider_model: this.#model.provider,
      connection,
      kind: this.#kind,
      tokens_in: tokens.in,
      tokens_cached: tokens.cached,
      tokens_out: tokens.out,
      is_estimated: end.isEstimated,
      cost,
      first_token_ms: end.firstTokenMs,
      total_ms: end.totalMs,
      rounds: end.rounds,
      outcome,
    };
    // A call that failed before its first token is given back.
    const isVoid = end.firstTokenMs === null && outcome !== 'ok' && outcome !== 'cancelled';
    const used = { requests: isVoid ? 0 : 1, tokens: tokens.in + tokens.out, cost: cost ?? 0 };
    const windows = this.#windows ?? [];
    try {
      await (windows.length > 0 ? settleCall(sql, call, { windows, used }) : recordCall(sql, call));
    } catch (error) {
      log.error({ err: error, model: call.model, connection }, 'The use of a model could not be recorded.');
    } finally {
      usage.held.delete(this.#id);
    }
  }
}

const KINDS = ['requests', 'tokens', 'cost'] as const;

/** @throws budget_exceeded for the first limit that is exceeded */
function requireWithin(
  windows: readonly Window[],
  counted: readonly (WindowKey & Amounts)[],
  wanted: Amounts,
): void {
  for (const window of windows) {
    const sums = counted.find(({ key, starts_at }) => key === window.key && starts_at === window.starts_at);
    for (const kind of KINDS) {
      const most = window[`most_${kind}`];
      if (!sums || most === null || wanted[kind] <= 0 || sums[kind] <= most) continue;
      throw exceeded(window, { kind, most, used: sums[kind] - wanted[kind], wanted: wanted[kind] });
    }
  }
}

interface Exceeded {
  kind: (typeof KINDS)[number];
  most: number;
  used: number;
  wanted: number;
}

function exceeded({ whom, per, ends_at }: Window, { kind, most, used, wanted }: Exceeded): AppError {
  const round = (value: number) => Math.round(value * 10_000) / 10_000;
  const limit = kind === 'cost' ? `a cost of ${most}` : `${most} ${kind}`;
  const needs = kind === 'requests' ? '' : `, and this call needs up to ${round(wanted)}`;
  const detail =
    `The limit of ${limit} per ${per} ${whom} does not allow this call: ${round(Math.max(0, most - used))} remain${needs}. ` +
    `It begins anew at ${new Date(ends_at * 1000).toISOString().replace('.000', '')}.`;
  return new AppError('budget_exceeded', { detail, retryAfterSeconds: Math.max(1, ends_at - nowSeconds()) });
}
