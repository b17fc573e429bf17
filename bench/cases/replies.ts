import type { TokenResult, TokenTask } from '../load/tokens.ts';
import { type Child, startChild } from '../support/child.ts';
import { urlOf } from '../support/database.ts';
import { type Parley, startParley } from '../support/parley.ts';
import { plainResult, type Result } from '../support/report.ts';
import { median } from '../support/rounds.ts';
import { countRoundTrips } from '../support/roundTrips.ts';
import { createChannel, type Workspace } from '../support/workspace.ts';

/** Above the interval of the notices, so that each token goes out at once. */
const EVERY_MS = 120;
const REPLIES = 20;

/**
 * From a token of the provider to a subscriber, for replies side by side whose tokens come slower than
 * notices may; and the statements that more tokens cost.
 */
export async function replies(workspace: Workspace): Promise<Result[]> {
  return [...(await measureTokens(workspace)), await countStatements(workspace)];
}

async function measureTokens({ parley, quick, rounds }: Workspace): Promise<Result[]> {
  await using child = await startChild<string>('load/tokens.ts', 'load', null);
  const task = await connect(parley, child);
  const tokens = quick ? 20 : 100;
  const ask = () => child.ask<TokenResult>({ ...task, replies: REPLIES, tokens, everyMs: EVERY_MS });
  await ask();
  const measured: TokenResult[] = [];
  for (let round = 0; round < rounds; round += 1) measured.push(await ask());
  const what = `replies: provider's token to subscriber, ${REPLIES} side by side`;
  return [
    plainResult(`${what}, p50`, 'ms', median(measured.map(({ p50 }) => p50)), 5),
    plainResult(`${what}, p99`, 'ms', median(measured.map(({ p99 }) => p99)), 30),
  ];
}

const FEW = 10;
const MANY = 2_010;

async function countStatements({ cluster }: Workspace): Promise<Result> {
  await cluster.createDatabase('replies');
  const counter = await countRoundTrips(cluster.address);
  const databaseUrl = urlOf({ ...cluster.address, host: counter.host }, 'replies');
  const parley = await startParley({ databaseUrl });
  await using child = await startChild<string>('load/tokens.ts', 'load', null);
  try {
    const task = await connect(parley, child);
    /** The minimum of several replies, since the server sometimes runs statements of its own. */
    const count = async (tokens: number): Promise<number> => {
      const counts: number[] = [];
      for (let reply = 0; reply < 5; reply += 1) {
        const before = counter.count();
        await child.ask({ ...task, replies: 1, tokens, everyMs: 0 });
        counts.push(counter.count() - before);
      }
      return Math.min(...counts);
    };
    const [few, many] = [await count(FEW), await count(MANY)];
    const each = Math.max(0, many - few) / (MANY - FEW);
    return plainResult(
      'replies: statements for each further token',
      'round trips',
      Math.round(each * 100) / 100,
      0,
    );
  } finally {
    await parley.stop();
    await counter.stop();
  }
}

/** Connects the provider, whose model all members may use. */
async function connect(
  parley: Parley,
  { first: address }: Child<string>,
): Promise<Omit<TokenTask, 'replies' | 'tokens' | 'everyMs'>> {
  // biome-ignore lint/suspicious/noExplicitAny: only a few of its settings are changed
  const config = await parley.asAdministrator<any>('GET /configs/export');
  config.hosted_model_api = { enable: true, api_base_urls: [address], api_keys: ['none'], api_configs: {} };
  config.models.open_provider_models = true;
  await parley.asAdministrator('POST /configs/import', config);
  for (;;) {
    const states = await parley.asAdministrator<{ state: string }[]>('GET /providers');
    if (states.every(({ state }) => state !== 'asking')) break;
  }
  return { url: parley.url, token: parley.token, channelId: await createChannel(parley) };
}
