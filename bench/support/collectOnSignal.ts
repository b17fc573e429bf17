import { answerSignal } from './signalSide.ts';

/**
 * Loaded before a server whose memory is measured (`--expose-gc`): at a signal it collects garbage and notes
 * the size of the rest. The figure of the system is not usable, since V8 keeps the pages of its largest heap.
 */
answerSignal(() => {
  for (let round = 0; round < 3; round += 1) globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
});
