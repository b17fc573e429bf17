import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { NAMED_VARIABLES, VARIABLE_PREFIX } from '../env/settings.ts';
import { describeSetting } from './settings/configs.catalogue.ts';
import { DEFAULT_CONFIGURATION } from './settings/configs.defaults.ts';
import { SETTINGS, valueAt } from './settings/configs.settings.ts';

/** The tables of `docs/configuration.md`, from the settings themselves. Run this file to write them there. */

const DOCUMENT = fileURLToPath(new URL('../../docs/configuration.md', import.meta.url));
const BEGIN = '<!-- settings: written by node src/configs/configs.document.ts -->';
const END = '<!-- end of settings -->';

const HEADINGS = {
  server: 'Settings that the server acts on',
  clients: 'Settings that clients get from `GET /config`, and act on',
  nobody: 'Settings that nothing here acts on yet: kept and exported, for other components',
} as const;

export function renderSettings(): string {
  const sections = Object.entries(HEADINGS).map(([used_by, heading]) => {
    const rows = SETTINGS.filter((path) => describeSetting(path).used_by === used_by).map(renderRow);
    return [
      `### ${heading}`,
      '',
      '| setting | default | variable | meaning |',
      '| --- | --- | --- | --- |',
      ...rows,
    ].join('\n');
  });
  return [BEGIN, ...sections, END].join('\n\n');
}

function renderRow(path: string): string {
  const [named] = Object.entries(NAMED_VARIABLES).find(([, setting]) => setting === path) ?? [];
  const variable = named ?? VARIABLE_PREFIX + path.replaceAll('.', '__');
  const initial = JSON.stringify(valueAt(DEFAULT_CONFIGURATION, path));
  return `| \`${path}\` | \`${initial}\` | \`${variable}\` | ${describeSetting(path).meaning} |`;
}

if (import.meta.main) {
  const text = readFileSync(DOCUMENT, 'utf8');
  const [before] = text.split(BEGIN);
  const [, after] = text.split(END);
  if (before === undefined || after === undefined)
    throw new Error(`${DOCUMENT} has no place for the settings.`);
  writeFileSync(DOCUMENT, before + renderSettings() + after);
}
