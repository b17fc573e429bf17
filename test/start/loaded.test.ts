import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

/** Loads the program like `main.ts`, and prints the packages that were loaded. */
const LOAD = `
  import { registerHooks } from 'node:module';
  const packages = new Set();
  registerHooks({
    resolve(name, context, next) {
      const found = next(name, context);
      const [, packageName] = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(found.url) ?? [];
      if (packageName) packages.add(packageName);
      return found;
    },
  });
  await import('./src/app.ts');
  console.log(JSON.stringify([...packages]));
`;

it('rarely used packages are not loaded before they are needed', async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', LOAD],
    { cwd: ROOT },
  );
  const packages: string[] = JSON.parse(stdout);
  expect(packages).toContain('fastify');
  // `prom-client` loads the API, which does nothing without the other packages.
  const telemetry = packages.filter((name) => name.startsWith('@opentelemetry/'));
  expect(telemetry).toEqual(['@opentelemetry/api']);
  for (const rare of ['ldapts', 'ioredis', 'undici', 'file-type']) expect(packages).not.toContain(rare);
});
