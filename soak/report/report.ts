import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Capacity, GOAL, LIMITS_MS } from '../capacity.ts';
import type { Finding } from '../checks/events.ts';
import type { Verdict } from '../judge.ts';
import type { Figure } from '../metrics.ts';
import type { Run } from '../run.ts';
import { drawPlot, type Line, type Plot } from './plot.ts';

export interface Result {
  at: string;
  command: string;
  seed: number;
  machine: Record<string, string>;
  capacity: Capacity | null;
  run: Run;
  verdict: Verdict;
}

/** How many findings of a kind are written out. */
const SHOWN = 20;
const MEGABYTE = 1e6;

/** Writes the report with its plots, and all figures as JSON. @returns the path of the report */
export async function writeReport(folder: string, result: Result): Promise<string> {
  const { run, verdict, ...rest } = result;
  await mkdir(folder, { recursive: true });
  const plots = plotsOf(run);
  for (const [name, plot] of Object.entries(plots))
    await writeFile(join(folder, `${name}.svg`), drawPlot(plot));
  const { faults, missing, followed, windows, rights, seconds } = run;
  const answers = run.journals.map((journal) => journal.answers);
  const figures = {
    ...rest,
    ...verdict,
    seconds,
    faults,
    missing,
    rights: rights.length,
    answers,
    windows,
    followed,
  };
  await writeFile(join(folder, 'figures.json'), `${JSON.stringify(figures, null, 1)}\n`);
  const path = join(folder, 'report.md');
  await writeFile(path, renderReport(result, Object.keys(plots)));
  return path;
}

function renderReport(
  { at, command, seed, machine, capacity, run, verdict }: Result,
  plots: string[],
): string {
  const { findings, counts, trends } = verdict;
  return [
    `# Soak of ${at}`,
    '',
    `\`${command}\`, seed ${seed}, ${Math.round(run.seconds)} s with faults. ${Object.entries(machine)
      .map(([part, words]) => `${part}: ${words}`)
      .join('; ')}.`,
    '',
    findings.length === 0 ? '**No finding.**' : `**${findings.length} findings.**`,
    '',
    ...renderFindings(findings),
    ...(capacity ? renderCapacity(capacity) : []),
    '## Counts',
    '',
    table(['what', 'count'], Object.entries(counts)),
    '',
    '## Faults',
    '',
    table(
      ['fault', 'times'],
      [...Map.groupBy(run.faults, ({ fault }) => fault)].map(([fault, list]) => [fault, list.length]),
    ),
    '',
    ...Object.entries(run.missing).map(([fault, reason]) => `Left out: ${fault}, because ${reason}.\n`),
    '## Trends of server 0 after the first third',
    '',
    table(
      ['figure', 'mean', 'change an hour', '95 % interval', 'grows'],
      Object.entries(trends).map(([figure, trend]) =>
        trend
          ? [
              figure,
              ...[trend.mean, trend.perHour].map((value) => short(figure, value)),
              `${short(figure, trend.low)} to ${short(figure, trend.high)}`,
              trend.isGrowing ? 'yes' : 'no',
            ]
          : [figure, 'too few points', '', '', ''],
      ),
    ),
    '',
    '## Plots',
    '',
    ...plots.map((name) => `![${name}](${name}.svg)\n`),
  ].join('\n');
}

const short = (figure: string, value: number): string =>
  figure === 'handles' ? value.toFixed(1) : `${(value / MEGABYTE).toFixed(1)} MB`;

function renderFindings(findings: Finding[]): string[] {
  return [...Map.groupBy(findings, ({ kind }) => kind)].flatMap(([kind, list]) => [
    `## ${kind}: ${list.length}`,
    '',
    ...list.slice(0, SHOWN).map(({ detail }) => `- ${detail}`),
    ...(list.length > SHOWN ? [`- and ${list.length - SHOWN} more`] : []),
    '',
  ]);
}

function renderCapacity({ steps, held, perCore }: Capacity): string[] {
  const ms = (value: number) => value.toFixed(0);
  const limits = `p99 at most ${LIMITS_MS.post} ms for posts and ${LIMITS_MS.page} ms for pages`;
  return [
    '## People on one core',
    '',
    `The largest step within the limits (${limits}) has **${held}** people, on one core with PostgreSQL and Redis. Extrapolated from its`,
    `CPU time: **${perCore}** people would fill one core. The goal is ${GOAL}.`,
    '',
    table(
      [
        'people',
        'posts: p50',
        'p99',
        'count',
        'pages: p50',
        'p99',
        'count',
        'other answers',
        'cores',
        'of these Node',
        'PostgreSQL',
        'client loop p99',
        'within the limits',
      ],
      steps.map(({ people, figures: { post, page, failed, loopP99 }, cores, coresOf, isMet }) => [
        ...[
          people,
          ms(post.p50),
          ms(post.p99),
          post.count,
          ms(page.p50),
          ms(page.p99),
          page.count,
          failedOf(failed),
        ],
        ...[cores, coresOf.servers ?? 0, coresOf.postgres ?? 0].map((value) => value.toFixed(2)),
        ...[ms(loopP99), isMet ? 'yes' : 'no'],
      ]),
    ),
    '',
  ];
}

/** Such as `2 × 403`. */
const failedOf = (failed: Record<number, number>): string =>
  Object.entries(failed)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ') || '0';

const table = (head: string[], rows: (string | number)[][]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

function plotsOf({ windows, faults, followed }: Run): Record<string, Plot> {
  const began = Math.min(...faults.map(({ fromMs, at }) => fromMs - at * 1000));
  const bands = faults.map(({ fault, fromMs, toMs }) => ({
    ...{ name: fault, from: (fromMs - began) / 1000, to: (toMs - began) / 1000 },
  }));
  const times = (kind: 'post' | 'page', figure: 'p50' | 'p99'): Line => ({
    name: `${kind} ${figure}`,
    points: windows
      .filter((window) => window[kind].count > 0)
      .map((window) => ({ seconds: window.seconds, value: window[kind][figure] })),
  });
  const ofServers = (figure: Figure, divisor: number): Line[] =>
    followed.all.map((series, n) => ({
      name: `server ${n}`,
      points: series[figure].map(({ seconds, value }) => ({ seconds, value: value / divisor })),
    }));
  return {
    posts: { title: 'Posts', unit: 'ms', lines: [times('post', 'p50'), times('post', 'p99')], bands },
    pages: { title: 'Pages', unit: 'ms', lines: [times('page', 'p50'), times('page', 'p99')], bands },
    memory: { title: 'Resident memory', unit: 'MB', lines: ofServers('memory', MEGABYTE), bands },
    heap: { title: 'Used heap', unit: 'MB', lines: ofServers('heap', MEGABYTE), bands },
    handles: { title: 'Open file descriptors', unit: 'count', lines: ofServers('handles', 1), bands },
  };
}
