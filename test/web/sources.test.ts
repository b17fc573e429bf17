import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const WEB = join(import.meta.dirname, '..', '..', 'web');

type Words = { [name: string]: string | Words };

/** `profile.title: {{name}}`: each key with the values that its words hold. */
function shapeOf(words: Words, path = ''): string[] {
  return Object.entries(words).flatMap(([name, value]) =>
    typeof value === 'string'
      ? [`${path}${name}: ${[...new Set(value.match(/\{\{\w+/g) ?? [])].sort()}`]
      : shapeOf(value, `${path}${name}.`),
  );
}

const wordsOf = async (language: string, file: string): Promise<Words> =>
  JSON.parse(await readFile(join(WEB, 'languages', language, file), 'utf8'));

const areas = await readdir(join(WEB, 'languages', 'en'));
const sources = (await readdir(join(WEB, 'src'), { recursive: true })).filter((name) => /\.tsx?$/.test(name));

describe('the words of the page', () => {
  test('German has the files of English', async () => {
    expect(await readdir(join(WEB, 'languages', 'de'))).toEqual(areas);
  });

  test.each(areas)('German has the same keys and values as English: %s', async (file) => {
    const [english, german] = [await wordsOf('en', file), await wordsOf('de', file)];
    expect(shapeOf(german).sort()).toEqual(shapeOf(english).sort());
  });

  test('each key that a view names exists', async () => {
    const known = new Set<string>();
    for (const file of areas) {
      const area = file.replace('.json', '');
      for (const line of shapeOf(await wordsOf('en', file))) {
        // `days_one` and `days_other` are forms of `days`.
        const key = line.slice(0, line.indexOf(':')).replace(/_(?:zero|one|two|few|many|other)$/, '');
        // With `returnObjects`, a view reads the words below a key at once.
        const parts = key.split('.');
        for (const length of parts.keys()) known.add(`${area}:${parts.slice(0, length + 1).join('.')}`);
      }
    }
    const unknown: string[] = [];
    for (const name of sources) {
      const text = await readFile(join(WEB, 'src', name), 'utf8');
      const areasHere = [...text.matchAll(/useTranslation\((?:\[)?'([\w-]+)'/g)].map(([, area]) => area);
      for (const [, key = ''] of text.matchAll(/(?<![\w.])t\('([^'$]+)'/g)) {
        const places = key.includes(':') ? [key] : [...areasHere, 'common'].map((area) => `${area}:${key}`);
        if (!places.some((place) => known.has(place))) unknown.push(`${name}: ${key}`);
      }
    }
    expect(unknown).toEqual([]);
  });
});
