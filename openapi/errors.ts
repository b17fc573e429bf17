import { ERRORS } from '../src/core/errors.ts';
// Nouns add their codes when they are loaded.
import '../src/nouns.ts';

const BEGIN = '<!-- codes: written by npm run openapi -->';
const END = '<!-- end of codes -->';

/** Returns `docs/errors.md` with its table of codes generated again. */
export function renderErrors(page: string): string {
  const [before] = page.split(BEGIN);
  const [, after] = page.split(END);
  if (before === undefined || after === undefined)
    throw new Error('docs/errors.md has no place for the codes.');
  const rows = Object.entries(ERRORS)
    .sort(([a, one], [b, other]) => one.status - other.status || (a < b ? -1 : 1))
    .map(([code, { status, detail }]) => `| \`${code}\` | ${status} | ${detail} |`);
  const table = [
    '| code | status | `detail`, unless a better one is known |',
    '| --- | --- | --- |',
    ...rows,
  ];
  return [before + BEGIN, ...table, END + after].join('\n');
}
