import { afterAll, describe, expect, it } from 'vitest';
import { safeParse } from 'zod/v4/core';
import { joinShapes } from '../../src/core/schema/schema.ts';
import { listProcedures } from '../../src/doors/http/procedures.ts';
import { appRouter } from '../../src/router.ts';
import { openDoors } from '../support/doors.ts';
import { signUp, startServer } from '../support/server.ts';

/* A malformed id in a path is not found: 404 at every door. */

const server = await startServer();
afterAll(() => server.close());
const administrator = await signUp(server, 'Root');
const doors = openDoors(server.url, administrator.token);
afterAll(() => doors.close());

const parametersOf = (path: string) => [...path.matchAll(/\{(\w*id)\}/g)].map(([, name = '']) => name);
const WORD = 'nothing-of-that-name';
/** Any word is a valid id of a tool. */
const procedures = listProcedures(appRouter).filter(({ meta, inputs }) =>
  parametersOf(meta?.openapi?.path ?? '').some((name) => {
    const schema = joinShapes(inputs)?.get(name);
    return schema && !safeParse(schema, WORD).success;
  }),
);

describe('a malformed id in a path', () => {
  it('is tested for many paths', () => expect(procedures.length).toBeGreaterThan(40));

  it.each(procedures)('is not found: $path', async (procedure) => {
    const names = parametersOf(procedure.meta?.openapi?.path ?? '');
    const input = Object.fromEntries(names.map((name) => [name, WORD]));
    for (const outcome of await doors.try(procedure, input)) {
      expect(outcome).toEqual({ status: 404, code: 'not_found' });
    }
  });
});
