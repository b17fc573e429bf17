import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startTestPython } from '../support/python.ts';

const FOLDER = join(import.meta.dirname, 'golden');
const names = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.py'))
  .map((file) => basename(file, '.py'));

const python = await startTestPython();
afterAll(() => python.close());

/**
 * Specifications of small tools of the kinds that people publish. After an intended change, update the files
 * with `-u`.
 */
describe('the recorded specification', () => {
  it('exists for at least 60 tools', () => {
    expect(names.length).toBeGreaterThanOrEqual(60);
  });

  it.each(names)('equals that of %s', async (name) => {
    const source = readFileSync(join(FOLDER, `${name}.py`), 'utf8');
    const { content, missing, warnings, ...described } = await python.inspect({ id: name, content: source });
    expect([missing, warnings]).toEqual([[], []]);
    if (name !== 'moved_imports') expect(content).toBe(source);
    await expect(`${JSON.stringify(described, null, 2)}\n`).toMatchFileSnapshot(join(FOLDER, `${name}.json`));
  });
});
