import { existsSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Debian's package libfaketime; the variant for programs with threads. */
const LIBRARY = ['x86_64-linux-gnu', 'aarch64-linux-gnu']
  .map((folder) => `/usr/lib/${folder}/faketime/libfaketimeMT.so.1`)
  .find((path) => existsSync(path));

/** The wall clock of one server process, which can jump. */
export interface Clock {
  env: Record<string, string>;
  /** Sets how far the clock is from the true time. */
  jump(seconds: number): Promise<void>;
}

/** The reason in words where no clock can be moved. */
export async function movableClock(folder: string): Promise<Clock | string> {
  if (!LIBRARY) return 'the package libfaketime is not installed';
  const file = join(folder, 'clock');
  const jump = async (seconds: number) => {
    await writeFile(`${file}.draft`, `${seconds >= 0 ? '+' : ''}${seconds}s`);
    await rename(`${file}.draft`, file);
  };
  await jump(0);
  return {
    env: {
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: file,
      // The file is read again at most once a second.
      FAKETIME_CACHE_DURATION: '1',
      // Timers use this clock, which never jumps.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    jump,
  };
}
