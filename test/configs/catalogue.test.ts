import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderSettings } from '../../src/configs/configs.document.ts';
import { describeSetting } from '../../src/configs/settings/configs.catalogue.ts';
import { SETTINGS } from '../../src/configs/settings/configs.settings.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

describe('the catalogue of settings', () => {
  it('describes every setting', () => {
    for (const path of SETTINGS)
      expect([path, describeSetting(path).meaning]).not.toEqual([path, 'Not known to this service']);
  });

  it('marks the permissions that the source of the server checks, and no others', () => {
    const sources = globSync('src/**/*.ts', { cwd: ROOT })
      .filter((file) => !file.startsWith('src/configs/'))
      .map(read)
      .join('\n');
    const asked = (path: string) => sources.includes(`'${path.replace('user.permissions.', '')}'`);
    const permissions = SETTINGS.filter((path) => path.startsWith('user.permissions.'));
    const claimed = permissions.filter((path) => describeSetting(path).used_by === 'server');
    expect(claimed).toEqual(permissions.filter(asked));
  });

  it('equals docs/configuration.md; after a change run: node src/configs/configs.document.ts', () => {
    expect(read('docs/configuration.md')).toContain(renderSettings());
  });
});
