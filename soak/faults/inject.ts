import { setTimeout as delay } from 'node:timers/promises';
import type { Installation } from '../setup/installation.ts';
import type { Random } from '../setup/random.ts';
import type { Fault, Planned } from './schedule.ts';

/** A fault that was done. */
export interface Done extends Planned {
  /** Unix milliseconds. */
  fromMs: number;
  toMs: number;
}

const signalAll = (pids: number[], signal: NodeJS.Signals) => {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It ended in between.
    }
  }
};

/** Does one fault and undoes it after its time. */
async function inject(
  installation: Installation,
  fault: Fault,
  ms: number,
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  const last = () => delay(ms, undefined, { signal }).catch(() => {});
  const { servers, postgres, redis, links, disk, clock } = installation;
  const server = servers[fault.endsWith('1') ? 1 : 0];
  const pause = async (pids: number[]) => {
    signalAll(pids, 'SIGSTOP');
    await last();
    signalAll(pids, 'SIGCONT');
  };
  const cut = async (link: { cut(): void; restore(): void } | undefined) => {
    link?.cut();
    await last();
    link?.restore();
  };
  if (fault.startsWith('kill server')) {
    await server?.kill(ms);
    await server?.untilReady();
  } else if (fault === 'kill redis') {
    await redis.kill();
    await last();
    await redis.restart();
  } else if (fault === 'kill postgres') {
    await postgres.kill();
    await last();
    await postgres.start();
  } else if (fault.startsWith('pause server')) await pause([server?.pid() ?? []].flat());
  else if (fault === 'pause redis') await pause([redis.pid()]);
  else if (fault === 'pause postgres') await pause(postgres.pids());
  else if (fault.startsWith('cut clients')) await cut(server?.clients);
  else if (fault.startsWith('cut postgres')) await cut(links?.postgres);
  else if (fault.startsWith('cut redis')) await cut(links?.redis);
  else if (fault.startsWith('fill') && typeof disk !== 'string') {
    await disk.fill();
    await last();
    await disk.empty();
  } else if (fault.startsWith('move') && typeof clock !== 'string') {
    // Up to an hour, back or forth.
    await clock.jump(Math.round((random() * 2 - 1) * 3_600));
    await last();
    await clock.jump(0);
  }
}

/** Does all planned faults at their times. Ends early, with everything undone, when the signal says so. */
export async function injectAll(
  installation: Installation,
  planned: Planned[],
  random: Random,
  signal: AbortSignal,
  onFault: (fault: Planned) => void,
): Promise<Done[]> {
  const began = Date.now();
  const done: Done[] = [];
  for (const one of planned) {
    await delay(Math.max(0, began + one.at * 1000 - Date.now()), undefined, { signal }).catch(() => {});
    if (signal.aborted) break;
    onFault(one);
    const fromMs = Date.now();
    await inject(installation, one.fault, one.lasts * 1000, random, signal);
    done.push({ ...one, fromMs, toMs: Date.now() });
  }
  return done;
}

/** The faults that cannot be done here, with their reasons. */
export function missingFaults({ disk, clock }: Installation): Partial<Record<Fault, string>> {
  return {
    ...(typeof disk === 'string' && { 'fill the disk for uploads': disk }),
    ...(typeof clock === 'string' && { 'move the clock of server 1': clock }),
  };
}
