import { setTimeout as delay } from 'node:timers/promises';
import { callUntilFinal } from '../setup/calls.ts';
import { pick, type Random } from '../setup/random.ts';
import { type ChannelSetup, grantsOf, type Stage } from '../setup/stage.ts';

/** A change of the right of a guest. Its effect lies between the two times, in Unix milliseconds. */
export interface RightChange {
  channelId: string;
  personId: string;
  isGiven: boolean;
  fromMs: number;
  toMs: number;
}

/** Between two changes. */
const PAUSE_MS = 1_500;

/** Gives guests rights to channels and takes them, one change after the other, until the signal; then gives all. */
export async function changeRights(
  urls: readonly string[],
  { administrator, channels }: Stage,
  random: Random,
  signal: AbortSignal,
): Promise<RightChange[]> {
  const changes: RightChange[] = [];
  const guested = channels.filter(({ guests }) => guests.length > 0);
  const present = new Map(guested.map(({ id }) => [id, new Set<string>()]));

  async function set(channel: ChannelSetup, personId: string, isGiven: boolean): Promise<void> {
    const guests = present.get(channel.id) ?? new Set();
    if (isGiven) guests.add(personId);
    else guests.delete(personId);
    const fromMs = Date.now();
    const answer = await callUntilFinal(
      urls,
      `POST /channels/${channel.id}/access/update`,
      { token: administrator.token, body: { access_grants: grantsOf(channel, guests) } },
      300_000,
    );
    if (answer.status !== 200)
      throw new Error(`A change of rights was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    changes.push({ channelId: channel.id, personId, isGiven, fromMs, toMs: Date.now() });
  }
  while (!signal.aborted && guested.length > 0) {
    await delay(PAUSE_MS * 2 * random(), undefined, { signal }).catch(() => {});
    if (signal.aborted) break;
    const channel = pick(guested, random);
    const personId = pick(channel.guests, random);
    await set(channel, personId, !present.get(channel.id)?.has(personId));
  }
  for (const channel of guested)
    for (const personId of channel.guests)
      if (!present.get(channel.id)?.has(personId)) await set(channel, personId, true);
  return changes;
}
