import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { readEnv } from '../../src/env.ts';
import { passwordCostOf } from '../../src/users/passwords/passwords.ts';
import { administer } from '../configs/support.ts';
import { PASSWORD, signIn, signUp, signUpAs, startServer } from '../support/server.ts';

const server = await startServer();
afterAll(() => server.close());
const root = await signUp(server, 'Root');
const ann = await signUpAs(server, root, 'Annabelle', 'user');
const admin = administer(server, root);

describe('a new password', () => {
  it.each([
    ['seven characters', 'k3#vQz1'],
    ['longer than 128 characters', 'long '.repeat(26)],
    ['a common password', 'PassWord123'],
    ['the address of the account', 'annabelle@EXAMPLE.com'],
    ['the name of the account', 'Annabelle'],
  ])('is refused by every procedure when it is %s', async (_what, password) => {
    const account = { email: ann.email, name: 'Annabelle', password };
    const { token } = root;
    const answers = [
      await server.call('POST /auths/signup', { body: account }),
      await server.call('POST /auths/add', { token, body: account }),
      await server.call('POST /users', { token, body: account }),
      await server.call(`POST /users/${ann.id}/update`, { token, body: { password } }),
      await server.call('POST /auths/update/password', {
        token: ann.token,
        body: { password: PASSWORD, new_password: password },
      }),
    ];
    expect(answers.map(({ status, body }) => `${status} ${body.code}`)).toEqual(
      Array(5).fill('400 password_weak'),
    );
  });

  it('is accepted with eight characters, with 128, and in any script', async () => {
    const taken = ['k3#vQz1x', 'Zo\u00eb \u732b\u304c\u5c45\u308b\u3088', '\u{1f408}'.repeat(128)];
    for (const [i, password] of taken.entries()) {
      const email = `taken${i}@example.com`;
      const made = await server.call('POST /auths/signup', { body: { email, name: 'Taken', password } });
      expect([made.status, made.body.code]).toEqual([200, undefined]);
      await signIn(server, { id: '', email, token: '' }, password);
    }
  });

  it('has at least limits.password_min_length characters, and older passwords stay valid', async () => {
    const email = 'short@example.com';
    await admin.configure(({ limits }) => Object.assign(limits ?? {}, { password_min_length: 4 }));
    const short = { email, name: 'Short', password: 'k3#v' };
    expect((await server.call('POST /auths/signup', { body: short })).status).toBe(200);
    await admin.configure(() => {});
    await signIn(server, { id: '', email, token: '' }, short.password);
    const again = await server.call('POST /auths/signup', { body: { ...short, email: 'other@example.com' } });
    expect(again.body.detail).toContain('at least 8 characters');
  });
});

it.each([
  ['prod', '$argon2id$v=19$m=19456,t=2,p=1$'],
  ['dev', '$argon2id$v=19$m=19456,t=2,p=1$'],
  ['test', '$argon2id$v=19$m=8,t=1,p=1$'],
])('ENV=%s hashes a password as %s', async (ENV, expected) => {
  const other = await startServer({ env: { ENV } });
  onTestFinished(() => other.close());
  await signUp(other, 'Root');
  const [row] = await other.database.query<{ password_hash: string }>('select password_hash from users');
  expect(row?.password_hash).toContain(expected);
});

it('the cost of hashing is that of production unless ENV says otherwise', () => {
  expect(passwordCostOf(readEnv({}))).toBe('full');
});
