import { afterAll, describe, expect, it } from 'vitest';
import { listProcedures } from '../../src/doors/http/procedures.ts';
import { appRouter } from '../../src/router.ts';
import { openBoard } from '../channels/board.ts';

/*
 * A method that a path does not have is refused as such, and not as an invalid value of another path's
 * parameter.
 */

const board = await openBoard();
afterAll(() => board.close());

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const ID = '018f0000-0000-7000-8000-000000000000';

/** The methods of each path that procedures declare. */
const declared = new Map<string, Set<string>>();
for (const { meta } of listProcedures(appRouter)) {
  if (!meta?.openapi) continue;
  const { path, method } = meta.openapi;
  const known = path.replace(/\/$/, '');
  declared.set(known, (declared.get(known) ?? new Set()).add(method));
}

const ask = async (method: string, path: string) => {
  const url = `${board.server.url}/api/v1${path.replaceAll(/\{\w+\}/g, ID)}`;
  const response = await fetch(url, { method, headers: { authorization: `Bearer ${board.owner.token}` } });
  await response.body?.cancel();
  return { status: response.status, allow: response.headers.get('allow')?.split(', ') ?? [] };
};

describe('a method that a path does not have', () => {
  it.each([...declared])('is refused with the existing methods: %s', async (path, methods) => {
    // Plain routes for uploads and pictures may have the same address.
    const { allow } = await ask('OPTIONS', path);
    expect(allow).toEqual(expect.arrayContaining([...methods]));
    for (const method of METHODS.filter((name) => !allow.includes(name))) {
      expect([method, await ask(method, path)]).toEqual([method, { status: 405, allow }]);
    }
  });

  it.each([
    ['/channels/create', ['POST', 'OPTIONS']],
    ['/users/groups', ['GET', 'HEAD', 'OPTIONS']],
    ['/channels/messages/search', ['GET', 'HEAD', 'OPTIONS']],
    ['/channels/threads', ['GET', 'HEAD', 'OPTIONS']],
  ])('is not read as a parameter: %s', async (path, expected) => {
    expect((await ask('OPTIONS', path)).allow).toEqual(expected);
  });
});
