import { renameSync, writeFileSync } from 'node:fs';
import { noteFileOf } from './processes.ts';

/** Makes this process note an answer at each signal, for `askBySignal`. */
export function answerSignal(answer: () => unknown): void {
  process.on('SIGUSR2', () => {
    const path = noteFileOf(process.pid);
    writeFileSync(`${path}.part`, JSON.stringify(answer()));
    renameSync(`${path}.part`, path);
  });
}
