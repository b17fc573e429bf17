import { z } from 'zod';

/*
 * Zod's default messages in plain words, for readers who do not know TypeScript. Importing this module is
 * enough: it applies to every schema of the process.
 */

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  record: 'an object',
  object: 'an object',
  array: 'a list',
  tuple: 'a list',
  null: 'null',
};

const COUNTED: Readonly<Record<string, string>> = { string: 'characters', array: 'entries' };

/** A bound on a number, the length of a text, or the number of a list's entries. */
function bound(origin: string, words: 'at least' | 'at most', limit: number | bigint): string {
  const counted = COUNTED[origin];
  if (words === 'at least' && limit === 1 && counted) return 'must not be empty';
  return counted ? `must have ${words} ${limit} ${counted}` : `must be ${words} ${limit}`;
}

/** Undefined falls back to Zod's own message. */
function describe(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined && issue.code !== 'custom') return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return KINDS[issue.expected] && `must be ${KINDS[issue.expected]}`;
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'too_small':
      return issue.inclusive === false ? undefined : bound(issue.origin, 'at least', issue.minimum);
    case 'too_big':
      return issue.inclusive === false ? undefined : bound(issue.origin, 'at most', issue.maximum);
    case 'invalid_union':
      return 'is none of what it may be';
    default:
      return undefined;
  }
}

z.config({ customError: describe });
