import { answerSignal } from './signalSide.ts';

/**
 * Loaded before a server whose memory is measured (`--expose-gc`): a signal has it throw away what nobody needs, and note what is left.
 * What the system shows is no measure, as V8 keeps the pages of its largest heap.
 */
answerSignal(() => {
  for (let round = 0; round < 3; round += 1) globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
});
