import { afterAll, expect, it } from 'vitest';
import { PASSWORD, signUp, startServer } from '../support/server.ts';
import { recordStatements } from '../support/statements.ts';

const server = await startServer();
afterAll(() => server.close());
const ada = await signUp(server, 'Ada');

const VERIFYING = { verifying: true };

it('runs no statement for a session that it knows', async () => {
  await server.call('GET /users/permissions', { token: ada.token });
  const statements = await recordStatements(async () => {
    for (let i = 0; i < 10; i++) await server.call('GET /users/permissions', { token: ada.token });
    await server.call('GET /configs/export', { token: ada.token });
  }, VERIFYING);
  expect(statements).toEqual([]);
});

it('runs one statement for a session that it does not know, and none for a token that it did not sign', async () => {
  const { body } = await server.call('POST /auths/signin', {
    body: { email: ada.email, password: PASSWORD },
  });
  const call = () => server.call('GET /users/permissions', { token: body.token });
  const first = await recordStatements(call, VERIFYING);
  expect(first).toHaveLength(1);
  const forge = () => server.call('GET /auths', { token: `${body.token}x` });
  const forged = await recordStatements(forge, VERIFYING);
  expect(forged).toEqual([]);
});

it('signs in with one statement that reads and one that writes, and signs out with one', async () => {
  let token = '';
  const statements = await recordStatements(async () => {
    const { body } = await server.call('POST /auths/signin', {
      body: { email: ada.email, password: PASSWORD },
    });
    token = body.token;
  });
  const kindsOf = (texts: string[]) => texts.map((text) => /^\s*(\w+)/.exec(text)?.[1]?.toLowerCase());
  expect(kindsOf(statements)).toEqual(['select', 'with']);
  await server.call('GET /auths', { token });
  const leaving = await recordStatements(() => server.call('POST /auths/signout', { token }));
  expect(kindsOf(leaving)).toEqual(['with']);
});

it('runs the same statements for a known and an unknown address', async () => {
  const wrong = (email: string) =>
    recordStatements(() => server.call('POST /auths/signin', { body: { email, password: 'wrong' } }));
  const known = await wrong(ada.email);
  expect(known.length).toBeGreaterThan(0);
  expect(await wrong('nobody@example.com')).toEqual(known);
});

it('lists accounts in two statements at most, however many there are', async () => {
  for (const name of ['Grace', 'Edsger', 'Barbara']) await signUp(server, name);
  const statements = await recordStatements(() => server.call('GET /users', { token: ada.token }));
  expect(statements.length).toBeLessThanOrEqual(2);
});
