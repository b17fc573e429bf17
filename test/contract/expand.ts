/** Statements that change nothing which the release before uses. */
const EXPANDS = [
  /^create table /,
  /^create index /,
  /^create (or replace )?function /,
  /^create (or replace )?trigger /,
  /^(update|insert into) /,
  /^comment on /,
];
/** New columns that rows of the release before can lack. */
const ADDS = /^add (column )?(if not exists )?"?\w+"? /;
const IS_OPTIONAL = /( default |(?<!not) null\b)/;
const REFUSES_ROWS = /^add (column .*|"?\w+"? .*)?\b(unique|primary key)\b/;

/**
 * The statements of a migration after which the release before, which still runs, may fail: they take something away, or refuse what it
 * writes. Tables that the migration itself makes may be changed freely.
 */
export function faultsOf(statements: readonly string[]): string[] {
  const all = statements.map((text) => text.replace(/;\s*$/, '').replaceAll(/\s+/g, ' ').trim());
  const made = new Set(
    all.flatMap((text) => /^create table (if not exists )?"?(\w+)"?/.exec(text)?.[2] ?? []),
  );
  return all.filter((text) => !made.has(tableOf(text)) && !expands(text));
}

/** The table that an `alter table` or a unique index changes. */
const tableOf = (text: string): string =>
  /^(?:alter table (?:only |if exists )?|create unique index .*? on )"?(\w+)"?/.exec(text)?.[1] ?? '';

function expands(text: string): boolean {
  const altered = /^alter table (?:only |if exists )?"?\w+"? (?<changes>.*)$/.exec(text);
  if (!altered) return EXPANDS.some((kind) => kind.test(text));
  return partsOf(altered.groups?.changes ?? '').every(isAddition);
}

function isAddition(change: string): boolean {
  if (change.startsWith('add constraint')) return change.endsWith('not valid');
  return ADDS.test(change) && IS_OPTIONAL.test(change) && !REFUSES_ROWS.test(change);
}

/** The changes of one statement: separated by commas outside of parentheses. */
function partsOf(changes: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const character of changes) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim());
}
