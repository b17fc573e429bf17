import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { describeMachine } from '../bench/support/machine.ts';
import { type Capacity, GOAL, measureCapacity } from './capacity.ts';
import { judge } from './judge.ts';
import { writeReport } from './report/report.ts';
import { runWithFaults } from './run.ts';
import { closeOnSignal } from './setup/closers.ts';

const { values } = parseArgs({
  options: {
    /** How long people work while faults happen. */
    minutes: { type: 'string', default: '60' },
    people: { type: 'string' },
    /** The same seed gives the same faults in the same order. */
    seed: { type: 'string', default: '1' },
    /** A factor of the pauses between two actions of a person. */
    pace: { type: 'string' },
    /** The folder of the report. */
    out: { type: 'string' },
    /** Instead of all faults, so many kills of server processes; people only write, and fast. */
    kills: { type: 'string' },
    /** Leaves out the step load without faults, or the part with faults. */
    'no-capacity': { type: 'boolean', default: false },
    /** The most people of the step load. */
    most: { type: 'string', default: '3200' },
    /** How long each of its steps is measured. */
    step: { type: 'string', default: '12' },
    'no-tools': { type: 'boolean', default: false },
  },
});

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value > 0) return value;
  console.error(`--${name} takes a number above 0, not ${JSON.stringify(text)}.`);
  process.exit(1);
}
const kills = values.kills === undefined ? undefined : numberOf('kills', values.kills);
const seed = numberOf('seed', values.seed);
const options = {
  seed,
  seconds: numberOf('minutes', values.minutes) * 60,
  people: numberOf('people', values.people ?? (kills ? '12' : '300')),
  pace: numberOf('pace', values.pace ?? (kills ? '0.02' : '1')),
  withTools: !values['no-tools'] && !kills,
  ...(kills && { kills }),
};
const steps = {
  seed,
  first: 200,
  most: numberOf('most', values.most),
  secondsOfStep: numberOf('step', values.step),
};

const began = Date.now();
const say = (line: string) =>
  console.error(`${((Date.now() - began) / 1000).toFixed(0).padStart(5)} s  ${line}`);
const closers: (() => Promise<void>)[] = [];
const closeAll = closeOnSignal(closers);
try {
  let capacity: Capacity | null = null;
  if (!kills && !values['no-capacity']) {
    say('How many people one core serves …');
    capacity = await measureCapacity(steps, closers);
    await closeAll();
  }
  const run = await runWithFaults(options, closers, say);
  say('All is read back …');
  const verdict = await judge(run);
  const at = new Date().toISOString();
  const folder = values.out ?? join(import.meta.dirname, 'results', at.replaceAll(':', '-'));
  const machine = await describeMachine(run.installation.postgres.url);
  const command = `npm run soak -- ${process.argv.slice(2).join(' ')}`.trim();
  const path = await writeReport(folder, { at, command, seed, machine, capacity, run, verdict });

  for (const [what, count] of Object.entries(verdict.counts)) console.log(`${what}: ${count}`);
  if (capacity)
    console.log(
      `people on one core within the limits: ${capacity.held}; extrapolated by CPU time: ${capacity.perCore}; goal: ${GOAL}`,
    );
  for (const [kind, list] of Map.groupBy(verdict.findings, (finding) => finding.kind))
    console.log(`FINDING ${kind}: ${list.length}, such as: ${list[0]?.detail}`);
  console.log(`${verdict.findings.length} findings; ${path}`);
  if (verdict.findings.length > 0) process.exitCode = 1;
} finally {
  await closeAll();
}
