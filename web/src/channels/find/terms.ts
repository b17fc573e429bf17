import type { Inputs } from '@parley/client';

/** What is searched, as the address has it. Days are `2026-11-23`, in the time zone of the browser. */
export interface SearchTerms {
  q?: string | undefined;
  channel?: string | undefined;
  from?: string | undefined;
  after?: string | undefined;
  before?: string | undefined;
}

const NAMES = ['q', 'channel', 'from', 'after', 'before'] as const;

export function searchTerms(search: Record<string, unknown>): SearchTerms {
  const texts = NAMES.flatMap((name) => {
    const value = search[name];
    // The router reads a number where the words are one.
    return typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [];
  });
  return Object.fromEntries(texts) as SearchTerms;
}

const NS_A_MS = 1e6;

/** The begin of a day in nanoseconds; null where the text is no day. */
const dayNs = (day: string | undefined, daysLater = 0): number | null => {
  const [, year, month, date] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(day ?? '') ?? []).map(Number);
  if (year === undefined || month === undefined || date === undefined) return null;
  return new Date(year, month - 1, date + daysLater).getTime() * NS_A_MS;
};

/** `before` and `after` of the address are days that count. */
export const inputOf = ({
  q = '',
  channel,
  from,
  after,
  before,
}: SearchTerms): Inputs['search']['messages'] => ({
  q,
  channel_id: channel ?? null,
  from: from ?? null,
  after: dayNs(after),
  before: dayNs(before, 1),
});
