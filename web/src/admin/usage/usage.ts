import type { Inputs, Outputs } from '@parley/client';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { trpc } from '../../api/query.ts';

export type Sum = Outputs['usage']['list']['items'][number];
export type By = NonNullable<Inputs['usage']['list']['by']>;
export type Measure = 'tokens' | 'calls' | 'cost';

const PAGE = 200;
/** Enough for 90 days of 100 people; the table says so when there are more. */
const MOST_ROWS = 10_000;

export interface Period {
  first: string;
  last: string;
}

/** Days of UTC, as the server counts them. */
export const periodOf = (days: number): Period => ({
  first: dayBefore(days - 1),
  last: dayBefore(0),
});

const DAY_MS = 86_400_000;
const dayBefore = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

/** All days of a period, the first one first. */
export function daysOf({ first, last }: Period): string[] {
  const days: string[] = [];
  for (let at = Date.parse(first); at <= Date.parse(last); at += DAY_MS) {
    days.push(new Date(at).toISOString().slice(0, 10));
  }
  return days;
}

/** The sums of a period, from all pages of the server. */
export const useUsage = (by: By, period: Period) =>
  useQuery({
    queryKey: [...trpc.usage.list.queryKey(), by, period],
    async queryFn() {
      const sums: Sum[] = [];
      for (;;) {
        const { items } = await api.usage.list.query({ by, ...period, skip: sums.length, limit: PAGE });
        sums.push(...items);
        if (items.length < PAGE || sums.length >= MOST_ROWS) return sums;
      }
    },
  });

export const measured = (sum: Sum, measure: Measure): number =>
  measure === 'tokens' ? sum.tokens_in + sum.tokens_out : sum[measure];

/** The sums of all days, the largest first. */
export function totals(sums: Sum[], measure: Measure): Sum[] {
  const byKey = Map.groupBy(sums, ({ key }) => key);
  const united = [...byKey.values()].map((all) => all.reduce(add));
  return united.sort((one, other) => measured(other, measure) - measured(one, measure));
}

const add = (one: Sum, other: Sum): Sum => ({
  ...one,
  calls: one.calls + other.calls,
  failed: one.failed + other.failed,
  tokens_in: one.tokens_in + other.tokens_in,
  tokens_cached: one.tokens_cached + other.tokens_cached,
  tokens_out: one.tokens_out + other.tokens_out,
  cost: one.cost + other.cost,
});

const COLUMNS = [
  'day',
  'key',
  'name',
  'calls',
  'failed',
  'tokens_in',
  'tokens_cached',
  'tokens_out',
  'cost',
] as const;

/** RFC 4180. A leading sign would be a formula to a spreadsheet. */
export function csvOf(sums: Sum[]): string {
  const cell = (value: string | number | null) => {
    const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value ?? '');
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const rows = sums.map((sum) => COLUMNS.map((column) => cell(sum[column])).join(','));
  return `${[COLUMNS.join(','), ...rows].join('\r\n')}\r\n`;
}
