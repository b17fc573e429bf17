import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { renderErrors } from '../../openapi/errors.ts';

test('docs/errors.md lists every code; after a change run: npm run openapi', async () => {
  const page = await readFile(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  expect(renderErrors(page)).toBe(page);
});
