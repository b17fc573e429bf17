import type { Scope } from '../core/scope.ts';
import type { Price } from './usage.terms.ts';

/** The tokens of a call. */
export interface Tokens {
  in: number;
  /** Those of `in` that the provider had cached. */
  cached: number;
  out: number;
}

/** The ids of a model: the one that was asked for, and the one of the provider at its base. */
export interface ModelIds {
  id: string;
  provider: string;
}

/** Whether an id fits a pattern, in which `*` stands for any characters. */
export function fits(pattern: string, id: string): boolean {
  const parts = pattern.split('*');
  const [first = '', last = ''] = [parts[0], parts.at(-1)];
  if (parts.length === 1) return pattern === id;
  if (!id.startsWith(first) || !id.endsWith(last) || id.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = id.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= id.length - last.length;
}

const PER = 1_000_000;

/** What tokens cost; null for a model without a price. The id itself comes before patterns, and long patterns before short ones. */
export function costOf({ configs }: Pick<Scope, 'configs'>, model: ModelIds, tokens: Tokens): number | null {
  const price = priceOf(configs.current.usage?.prices ?? {}, model);
  if (!price) return null;
  const { in: fresh, out, cached = fresh } = price;
  return ((tokens.in - tokens.cached) * fresh + tokens.cached * cached + tokens.out * out) / PER;
}

function priceOf(prices: Readonly<Record<string, Price>>, { id, provider }: ModelIds): Price | undefined {
  const patterns = Object.keys(prices).sort((a, b) => b.length - a.length);
  for (const wanted of [id, provider]) {
    if (Object.hasOwn(prices, wanted)) return prices[wanted];
    const pattern = patterns.find((one) => fits(one, wanted));
    if (pattern !== undefined) return prices[pattern];
  }
  return undefined;
}
