import { afterAll, describe, expect, it } from 'vitest';
import { PASSWORD, signUp, startServer } from '../support/server.ts';

const server = await startServer();
afterAll(() => server.close());
const ada = await signUp(server, 'Ada');

const attempt = (email: string, password = PASSWORD) =>
  server.call('POST /auths/signin', { body: { email, password } });

describe('sign-in', () => {
  it('answers with the account for any spelling of the address', async () => {
    const person = await signUp(server, 'Spelling');
    for (const email of [person.email, 'SPELLING@EXAMPLE.COM', ' spelling@example.com ']) {
      const { status, body } = await attempt(email);
      expect([status, body.id]).toEqual([200, person.id]);
    }
  });

  it('answers the same for an unknown address and a wrong password', async () => {
    const unknown = await attempt('nobody@example.com');
    const wrong = await attempt(ada.email, 'wrong');
    expect([unknown.status, unknown.body]).toEqual([wrong.status, wrong.body]);
    expect([wrong.status, wrong.body.code]).toEqual([400, 'credentials_wrong']);
  });

  it.each([{ email: 'x@example.com' }, { password: 'x' }, { email: 1, password: 'x' }, [], 'x', null])(
    'refuses %j',
    async (body) => {
      const answer = await server.call('POST /auths/signin', { body });
      expect([answer.status, answer.body.code]).toEqual([400, 'validation']);
    },
  );

  it('lets a pending account sign in and see that it is pending', async () => {
    const person = await signUp(server, 'Waiting');
    const { body } = await attempt(person.email);
    expect(body.role).toBe('pending');
    const me = await server.call('GET /auths', { token: body.token });
    expect([me.status, me.body.role]).toEqual([200, 'pending']);
  });
});

describe('the limit of attempts', () => {
  it('refuses the sixth attempt within three minutes, also when all were right, and says how long to wait', async () => {
    const person = await signUp(server, 'Often');
    for (let i = 0; i < 5; i++) expect((await attempt(person.email)).status).toBe(200);
    const { status, body, headers } = await attempt(person.email);
    expect([status, body.code]).toEqual([429, 'rate_limited']);
    const wait = Number(headers.get('retry-after'));
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(180);
    expect(body.detail).toContain(`${wait} seconds`);
  });

  it('counts all spellings of an address as one, known or not', async () => {
    const spellings = [
      'lim\u00ede@example.com',
      'LIM\u00cdE@example.com',
      ' limi\u0301e@Example.com',
      'LIMI\u0301E@EXAMPLE.COM',
    ];
    const answers = [];
    for (let i = 0; i < 6; i++) answers.push((await attempt(spellings[i % 4] ?? '')).status);
    expect(answers).toEqual([400, 400, 400, 400, 400, 429]);
  });

  it('applies to attempts at the same moment', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => attempt('burst@example.com')));
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(15);
  });

  it('applies at every door, and to each address separately', async () => {
    for (let i = 0; i < 5; i++) await attempt('doors@example.com');
    const response = await fetch(`${server.url}/trpc/auths.signIn`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'Doors@example.com', password: 'x' }),
    });
    expect(response.status).toBe(429);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await attempt('window@example.com')).status).toBe(400);
  });
});
