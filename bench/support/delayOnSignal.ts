import { monitorEventLoopDelay } from 'node:perf_hooks';
import { answerSignal } from './signalSide.ts';

/** Node counts the interval of its own timer as delay. */
const RESOLUTION_MS = 1;

const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();
const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);

/**
 * Loaded before a server: at a signal it notes how many milliseconds its event loop was late since the last
 * signal.
 */
answerSignal(() => {
  const noted = { p99: late(delay.percentile(99)), max: late(delay.max) };
  delay.reset();
  return noted;
});
