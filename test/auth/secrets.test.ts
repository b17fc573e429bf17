import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seal, unseal } from '../../src/core/secrets/seal.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { type Person, signUp, startServer, type TestServer } from '../support/server.ts';

const OLD = 'the first secret of an installation';
const NEW = 'the secret that took its place later';

describe('a start with another secret', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createDatabase();
  });
  afterEach(() => database.drop());

  async function run<T>(secret: string, work: (at: TestServer) => Promise<T>): Promise<T> {
    const env = { SECRET_KEY: secret, LOG_LEVEL: 'silent' };
    // PostgreSQL may take a moment to notice that the previous server has stopped.
    const at = await until('the database to be free', () => startServer({ database, env }).catch(() => null));
    try {
      return await work(at);
    } finally {
      await at.close();
    }
  }
  const secretsOf = async (at: TestServer, { token }: Person, webhooks: string) => {
    const exported = await at.call('GET /configs/export?secrets=true', { token });
    const listed = await at.call(webhooks, { token });
    return [exported.body.hosted_model_api?.api_keys, listed.body[0]?.token];
  };

  it('seals everything that is stored with the new secret, so that the old one can go', async () => {
    const sealedFor = {
      valves: { purpose: 'tool-valves', place: 'tool:dice' },
      ofUser: { purpose: 'tool-valves', place: 'tool:dice:user:' },
    } as const;
    const made = await run(OLD, async (at) => {
      const ann = await signUp(at, 'Ann');
      const { token } = ann;
      const { body } = await at.call('GET /configs/export', { token });
      body.hosted_model_api.api_base_urls = ['https://models.example.com/v1'];
      body.hosted_model_api.api_keys = ['sk-sealed'];
      expect((await at.call('POST /configs/import', { token, body })).status).toBe(200);
      const { body: channel } = await at.call('POST /channels/create', { token, body: { name: 'hooks' } });
      const webhook = { token, body: { name: 'hook' } };
      expect((await at.call(`POST /channels/${channel.id}/webhooks/create`, webhook)).status).toBe(200);
      // Stored as the service of tools does, without Python.
      await database.query(
        `insert into tool (id, user_id, name, content, meta, specs, valves, created_at, updated_at)
         values ('dice', $1, 'Dice', '', '{}', '[]', $2, 0, 0)`,
        [ann.id, seal(OLD, '{"key":"of a tool"}', sealedFor.valves)],
      );
      const place = `${sealedFor.ofUser.place}${ann.id}`;
      await database.query(
        `insert into tool_user_valves (tool_id, user_id, valves, updated_at) values ('dice', $1, $2, 0)`,
        [ann.id, seal(OLD, '{"key":"of Ann"}', { ...sealedFor.ofUser, place })],
      );
      const webhooks = `GET /channels/${channel.id}/webhooks`;
      return { ann, webhooks, place, secrets: await secretsOf(at, ann, webhooks) };
    });
    expect(made.secrets).toEqual([['sk-sealed'], expect.stringMatching(/.{20}/)]);

    await run(`${NEW}, ${OLD}`, async (at) => {
      // A session that was signed with the old secret stays valid.
      expect(await secretsOf(at, made.ann, made.webhooks)).toEqual(made.secrets);
    });
    const [tool] = await database.query<{ valves: string }>('select valves from tool');
    const [own] = await database.query<{ valves: string }>('select valves from tool_user_valves');
    expect(unseal(NEW, tool?.valves ?? '', sealedFor.valves)).toBe('{"key":"of a tool"}');
    expect(unseal(NEW, own?.valves ?? '', { ...sealedFor.ofUser, place: made.place })).toBe(
      '{"key":"of Ann"}',
    );
    const history = await database.query<{ data: string }>(
      `select data::text from config_history where data::text like '%sealed:%'`,
    );
    expect(history.length).toBeGreaterThan(0);
    const sealed = history.flatMap(({ data }) =>
      [...data.matchAll(/"sealed:([^"]+)"/g)].map(([, text]) => text),
    );
    for (const text of sealed) {
      expect(unseal(NEW, text ?? '', { purpose: 'configuration', place: 'config' })).not.toBe('');
    }

    // Nothing needs the old secret now, except for sessions that it signed.
    await run(NEW, async (at) => {
      expect((await at.call('GET /auths', { token: made.ann.token })).status).toBe(401);
      const { body } = await at.call('POST /auths/signin', {
        body: { email: made.ann.email, password: 'correct horse battery' },
      });
      expect(await secretsOf(at, { ...made.ann, token: body.token }, made.webhooks)).toEqual(made.secrets);
    });
  });

  it('leaves values unchanged that no secret of the list opens', async () => {
    const stranger = seal('a secret of nobody who is here now', '{}', {
      purpose: 'tool-valves',
      place: 'tool:dice',
    });
    await run(OLD, async (at) => {
      const { id } = await signUp(at, 'Ann');
      await database.query(
        `insert into tool (id, user_id, name, content, meta, specs, valves, created_at, updated_at)
         values ('dice', $1, 'Dice', '', '{}', '[]', $2, 0, 0)`,
        [id, stranger],
      );
    });
    await run(`${NEW},${OLD}`, async () => {});
    expect(await database.query('select valves from tool')).toEqual([{ valves: stranger }]);
  });
});
