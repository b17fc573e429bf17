import { median, type Sample } from './rounds.ts';

/** The requirement: at least this ratio, or at most this figure. */
export type Target = { ratioAtLeast: number } | { atMost: number };

export interface Result {
  /** The measured thing, for the table. */
  what: string;
  unit: string;
  ours: number;
  /** The bare counterpart and its figure; null for figures that have none. */
  baseline: { what: string; figure: number } | null;
  /** Ours ÷ baseline: above 1 is better for rates, below 1 for times. */
  ratio: number | null;
  target: Target | null;
  /** The rounds that the medians are made from. */
  samples?: { ours: Sample[]; baseline: Sample[] };
}

/** A figure without a bare counterpart; `atMost` when it has a limit. */
export const plainResult = (what: string, unit: string, ours: number, atMost?: number): Result => ({
  what,
  unit,
  ours,
  baseline: null,
  ratio: null,
  target: atMost === undefined ? null : { atMost },
});

/** True when the target is reached; null without a target. */
export function isMet({ target, ratio, ours }: Result): boolean | null {
  if (!target) return null;
  return 'atMost' in target ? ours <= target.atMost : (ratio ?? 0) >= target.ratioAtLeast;
}

/** Results as a Markdown table. */
export function renderTable(results: Result[]): string {
  const rows = results.map((result) => [
    result.what,
    figure(result.ours, result.unit),
    result.baseline ? `${result.baseline.what}: ${figure(result.baseline.figure, result.unit)}` : '',
    result.ratio === null ? '' : result.ratio.toFixed(2),
    cpuOf(result),
    targetText(result),
  ]);
  const all = [['what', 'ours', 'baseline', 'ratio', 'Node CPU, ours / baseline', 'target'], ...rows];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? [];
  const line = (row: string[]) => `| ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  const [header = [], ...body] = all;
  return [line(header), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n');
}

/**
 * The CPU time of an operation in the two Node processes, which says more than a ratio where a database does
 * most of the work.
 */
function cpuOf({ samples }: Result): string {
  const [ours, baseline] = [samples?.ours, samples?.baseline].map((rounds = []) =>
    median(rounds.flatMap(({ cpuMicros }) => cpuMicros ?? [])),
  );
  return ours && baseline ? `${ours.toFixed(0)} / ${baseline.toFixed(0)} µs` : '';
}

const figure = (value: number, unit: string): string => {
  const digits = Number.isInteger(value) || value >= 100 ? 0 : value < 10 ? 2 : 1;
  return `${value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })} ${unit}`;
};

function targetText(result: Result): string {
  const { target, unit } = result;
  if (!target) return '';
  const text = 'atMost' in target ? `≤ ${figure(target.atMost, unit)}` : `≥ ${target.ratioAtLeast}`;
  return isMet(result) ? text : `${text}, missed`;
}
