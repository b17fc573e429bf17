import { expect, it } from 'vitest';
import { safeParse } from 'zod/v4/core';
import { joinShapes } from '../../src/core/schema/schema.ts';
import { listProcedures } from '../../src/doors/http/procedures.ts';
import { appRouter } from '../../src/router.ts';
import { PNG } from '../webhooks/pictures.ts';

/** Finds every member of every input that takes a picture: all must accept the same values. */
const members = listProcedures(appRouter).flatMap(({ path, inputs }) =>
  [...(joinShapes(inputs) ?? [])]
    // Settings of providers that name a claim, or say whether it is used.
    .filter(([name]) => /image|picture|avatar|banner_url|icon/i.test(name) && !name.startsWith('OAUTH_'))
    .map(([name, schema]) => ({ path: `${path} ${name}`, schema })),
);

const base64 = (text: string) => Buffer.from(text).toString('base64');
const REFUSED = [
  `data:image/svg+xml;base64,${base64('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>')}`,
  'data:image/svg+xml,<svg/>',
  `data:text/html;base64,${base64('<script>alert(1)</script>')}`,
  `data:image/png;base64,${base64('<svg xmlns="http://www.w3.org/2000/svg"/>')}`,
  PNG.replace('data:image/png', 'DATA:image/svg+xml'),
  'http://tracker.example/pixel.png',
  'https://user:password@tracker.example/pixel.png',
  'https://tracker.example\\@example.com/',
  '//tracker.example/pixel.png',
  'javascript:alert(1)',
  '/api/v1/auths/signout',
  '/api/v1/users/../auths/signout',
];

it('is part of more than one input', () => {
  expect(members.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['auths.signUp profile_image_url', 'auths.add profile_image_url']),
  );
});

it.each(members)('$path accepts a picture, but no address to fetch and no active content', ({ schema }) => {
  expect(safeParse(schema, PNG).success).toBe(true);
  expect(REFUSED.filter((value) => safeParse(schema, value).success)).toEqual([]);
});
