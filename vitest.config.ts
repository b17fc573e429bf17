import { defineConfig } from 'vitest/config';
import { COMPILED } from './test/support/process.ts';

// For the workers, which begin with the environment of this process.
Object.assign(process.env, COMPILED);

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/globalSetup.ts'],
    pool: 'forks',
    // A worker makes many short-lived objects at each start of a server: with the default of 16 MB, collecting them takes
    // a tenth of its time.
    execArgv: ['--max-semi-space-size=64'],
    // A worker loads the server once, not once a file: each file has its own server and database anyway.
    isolate: false,
    experimental: {
      // Node strips the types itself, in tests as in production.
      viteModuleRunner: false,
      // Only for `vi.mock`, which no test uses.
      nodeLoader: false,
    },
    // For two cores: while a worker waits for a process or a deadline, the third has work.
    maxWorkers: 3,
    // Only what hangs takes so long: a busy machine is no reason to fail, and `until` gives up before.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 20_000 } },
    coverage: {
      include: ['src/**/*.ts', 'client/src/**/*.ts'],
      reporter: ['text-summary', 'json-summary'],
    },
  },
});
