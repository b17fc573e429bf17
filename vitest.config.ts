import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/globalSetup.ts'],
    pool: 'forks',
    // Two cores: more workers only take time from the servers that the tests start.
    maxWorkers: 2,
    // Only what hangs takes so long: a busy machine is no reason to fail, and `until` gives up before.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    coverage: {
      // Reported where it is read: it costs the tests a fifth of their time.
      enabled: process.env.CI === 'true',
      include: ['src/**/*.ts', 'client/src/**/*.ts'],
      reporter: ['text-summary', 'json-summary'],
    },
  },
});
