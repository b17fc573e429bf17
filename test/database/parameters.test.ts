import { expect, it } from 'vitest';
import { parseParameters } from '../../src/database/parameters.ts';

it('parameters are numbered by their first use, and equal names share a number', () => {
  expect(parseParameters('select :b::text, :a, :b where id = any(:ids::uuid[])')).toEqual({
    text: 'select $1::text, $2, $1 where id = any($3::uuid[])',
    parameters: ['b', 'a', 'ids'],
  });
});

it.each([
  ['a cast', 'select 1::int, $tag::int'],
  ['a string', "select ' :a ''s :b '"],
  ['a string with backslashes', String.raw`select E'it\'s :a', e'\\'`],
  ['a quoted identifier', 'select 1 as ":a "":b"'],
  ['dollar-quoted text', 'select $$ :a $$, $x$ :b $$ :c $x$'],
  ['a comment', 'select 1 -- :a\n, 2 /* :b\n :c */'],
  ['an operator or a slice', "select a[2:3], a[:100], '{}'::json #> '{a}', b := 1"],
])('no parameter is found in %s', (_what, source) => {
  expect(parseParameters(source)).toEqual({ text: source, parameters: [] });
});

it('text after a string, a comment or a cast is read', () => {
  expect(parseParameters("select ':a' || :a -- it's\n, /* ' */ :b::int").text).toBe(
    "select ':a' || $1 -- it's\n, /* ' */ $2::int",
  );
});
