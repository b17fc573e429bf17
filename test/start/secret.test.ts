import { afterEach, beforeEach, expect, it } from 'vitest';
import { seal, unseal } from '../../src/core/secrets/seal.ts';
import { administer } from '../configs/support.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { signIn, signUp, startServer, type TestServer, withSecret } from '../support/server.ts';

const OLD = 'the secret that the database was written with';
const NEW = 'a secret that somebody set by mistake';
const MARK_FOR = { purpose: 'secret-mark', place: 'config' } as const;
const REFUSAL = expect.objectContaining({
  name: 'StartError',
  message: expect.stringMatching(/another SECRET_KEY.*Put the old one back.*secret accept/),
});

let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

const run = <T>(secret: string, work: (at: TestServer) => Promise<T>) => withSecret(database, secret, work);
const starts = (secret: string) => run(secret, async () => {});
const refused = (secret: string) => expect(starts(secret)).rejects.toThrow(REFUSAL);

/** Starts a server and stores a secret in its configuration. */
const writeSecret = () =>
  run(OLD, async (at) => {
    const root = await signUp(at, 'Root');
    await administer(at, root).configure(({ hosted_model_api }) => {
      Object.assign(hosted_model_api, {
        api_base_urls: ['https://one.example.com'],
        api_keys: ['sk-kept'],
      });
    });
    return root;
  });
/** All rows that a start could change. */
const contents = () =>
  database.query(
    `select data::text, revision, secret_mark from config
      union all select data::text, revision, '' from config_history order by revision`,
  );
const mark = async (secret?: string) => {
  await database.query('update config set secret_mark = $1', [secret ? seal(secret, '', MARK_FOR) : null]);
};
const isMarkedBy = async (secret: string) => {
  const [row] = await database.query<{ secret_mark: string }>('select secret_mark from config');
  return unseal(secret, row?.secret_mark ?? '', MARK_FOR) === '';
};

it('a start with another secret is refused, and loses nothing', async () => {
  const root = await writeSecret();
  const before = await contents();
  await refused(NEW);
  await refused(`${NEW},${NEW} of yesterday`);
  expect(await contents()).toEqual(before);
  await run(OLD, async (at) => {
    const { hosted_model_api } = await administer(at, await signIn(at, root)).exported('?secrets=true');
    expect(hosted_model_api.api_keys).toEqual(['sk-kept']);
  });
  expect(await contents()).toEqual(before);
});

it('a start with another secret is refused even when nothing sealed is stored', async () => {
  await starts(OLD);
  await refused(NEW);
  await starts(OLD);
});

it('a database without a mark starts, and gets one', async () => {
  await writeSecret();
  await mark();
  await starts(OLD);
  expect(await isMarkedBy(OLD)).toBe(true);
  await refused(NEW);
});

it('a database without a mark is refused when none of its sealed values can be opened', async () => {
  await writeSecret();
  await mark();
  const before = await contents();
  await refused(NEW);
  expect(await contents()).toEqual(before);
});

it('a database without a mark may have lost values beside readable ones', async () => {
  const { id } = await writeSecret();
  const lost = seal(NEW, '{}', { purpose: 'tool-valves', place: 'tool:dice' });
  await database.query(
    `insert into tool (id, user_id, name, content, meta, specs, valves, created_at, updated_at)
     values ('dice', $1, 'Dice', '', '{}', '[]', $2, 0, 0)`,
    [id, lost],
  );
  await mark();
  await starts(OLD);
  expect(await isMarkedBy(OLD)).toBe(true);
  expect(await database.query('select valves from tool')).toEqual([{ valves: lost }]);
});

it('a database without a mark and without sealed values accepts any secret', async () => {
  await starts(OLD);
  await mark();
  await starts(NEW);
  expect(await isMarkedBy(NEW)).toBe(true);
});

it('a change of the secret that was interrupted is finished by the next start with both', async () => {
  const root = await writeSecret();
  await starts(`${NEW},${OLD}`);
  expect(await isMarkedBy(NEW)).toBe(true);
  // Imitates a missing mark: some values may still be sealed with the old secret.
  await mark(OLD);
  await refused(NEW);
  await starts(`${NEW},${OLD}`);
  await run(NEW, async (at) => {
    const { hosted_model_api } = await administer(at, await signIn(at, root)).exported('?secrets=true');
    expect(hosted_model_api.api_keys).toEqual(['sk-kept']);
  });
});

it('one of two concurrent first starts with different secrets succeeds, and its secret stays', async () => {
  const started = await Promise.allSettled(
    [OLD, NEW].map((SECRET_KEY) => startServer({ database, env: { SECRET_KEY, LOG_LEVEL: 'silent' } })),
  );
  const [winner] = started.flatMap((one, i) =>
    one.status === 'fulfilled' ? [{ at: one.value, secret: [OLD, NEW][i] ?? '' }] : [],
  );
  expect(started.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  await winner?.at.close();
  expect(await isMarkedBy(winner?.secret ?? '')).toBe(true);
});
