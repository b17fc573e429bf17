import { type ChannelLog, compareWithLog, type Finding, findFailures, findGaps } from './checks/events.ts';
import { earliestTimes, findForbidden, timesWithout } from './checks/secrecy.ts';
import { fitTrend, type Trend } from './checks/trend.ts';
import {
  checkEdits,
  checkPosts,
  checkReactions,
  findUnfinished,
  type StoredMessage,
} from './checks/writes.ts';
import { checkUploads, type ReadLog, readMessages } from './collect.ts';
import type { Heard, HeardChannel, Journal } from './load/journal.ts';
import { FIGURES, type Figure } from './metrics.ts';
import type { Run } from './run.ts';
import { inParallel } from './setup/calls.ts';

/** The counts that the checks looked at. */
export interface Counts {
  'posts sent': number;
  'posts acknowledged': number;
  'posts repeated after a lost answer and acknowledged': number;
  'edits acknowledged': number;
  'reactions acknowledged': number;
  'uploads acknowledged': number;
  'replies of models': number;
  'events in the logs': number;
  'events received': number;
  'connections of subscribers': number;
  'changes of rights': number;
}

export interface Verdict {
  findings: Finding[];
  counts: Counts;
  /** The trend of each figure of the process that is not killed after the first third; null with too few points. */
  trends: Record<Figure, Trend | null>;
}

type ListKey = { [Key in keyof Journal]: Journal[Key] extends unknown[] ? Key : never }[keyof Journal];

const WIDTH = 4;
const UNFINISHED_MS = 60_000;

/** Reads everything back and compares it with what the clients know. */
export async function judge(run: Run): Promise<Verdict> {
  const { installation, stage, journals, logs, rights, followed } = run;
  const { urls } = installation;
  const { token } = stage.administrator;
  const all = <Key extends ListKey>(key: Key) =>
    journals.flatMap((journal): unknown[] => journal[key]) as Journal[Key];
  const posts = Map.groupBy(all('posts'), ({ channelId }) => channelId);
  const read = () => inParallel(logs, WIDTH, ({ channelId }) => readMessages(urls, token, channelId));
  const stored = await readWhenEnded(read);
  const byId = new Map(stored.flat().map((message) => [message.id, message]));
  const tokens = Object.assign({}, ...journals.map((journal) => journal.tokens));
  const trends = Object.fromEntries(
    Object.keys(FIGURES).map((figure) => [
      figure,
      fitTrend(followed.ofLastLife[0]?.[figure as Figure] ?? []),
    ]),
  ) as Verdict['trends'];

  const findings: Finding[] = [
    ...logs.flatMap(({ channelId, ids }) => findGaps(channelId, ids)),
    ...logs.flatMap(({ channelId }, n) => checkPosts(posts.get(channelId) ?? [], stored[n] ?? [])),
    ...checkEdits(all('edits'), byId),
    ...checkReactions(all('reactions'), byId),
    ...findUnfinished([...byId.values()]),
    ...(await checkUploads(urls, all('uploads'), tokens)),
    ...all('heard').flatMap((heard) => checkHeard(run, heard, posts)),
    ...all('oddities').map((detail): Finding => ({ kind: 'odd answer', detail })),
    ...installation.servers.flatMap(({ unexpectedEnds }, n) =>
      unexpectedEnds.map((end): Finding => ({ kind: 'ended process', detail: `server ${n}: ${end}` })),
    ),
    ...Object.entries(trends).flatMap(([figure, trend]): Finding[] =>
      trend?.isGrowing
        ? [{ kind: 'trend', detail: `${figure} grows by ${trend.perHour.toFixed(0)} an hour` }]
        : [],
    ),
  ];
  return { findings, counts: count(run, stored, all('heard'), rights.length), trends };
}

/** Replies of models end by themselves, also those that lost their process. */
async function readWhenEnded(read: () => Promise<StoredMessage[][]>): Promise<StoredMessage[][]> {
  const end = Date.now() + UNFINISHED_MS;
  for (;;) {
    const stored = await read();
    if (findUnfinished(stored.flat()).length === 0 || Date.now() > end) return stored;
  }
}

function checkHeard(
  { stage, logs, heads, rights }: Run,
  heard: Heard,
  posts: Map<string, Journal['posts']>,
): Finding[] {
  const who = `${heard.personId} over ${heard.door}`;
  const heardOf = new Map(heard.channels.map((channel) => [channel.channelId, channel]));
  const none = (channelId: string): HeardChannel => ({ channelId, ids: [], marks: [], atMs: [] });
  return [
    ...findFailures(heard),
    ...logs.flatMap((log) => {
      const { channelId } = log;
      const channel = stage.channels.find(({ id }) => id === channelId);
      const own = heardOf.get(channelId) ?? none(channelId);
      const after = heads[channelId] ?? 0;
      if (channel?.steady.includes(heard.personId))
        return compareWithLog(who, own, toLog(log), { after, isWhole: true });
      const isGuest = channel?.guests.includes(heard.personId) ?? false;
      const times = timesWithout(rights, heard.personId, channelId);
      return [
        // A new right may bring the events of the minute before it.
        ...(isGuest ? compareWithLog(who, own, toLog(log), { after: 0, isWhole: false }) : []),
        ...findForbidden(who, own, times, earliestTimes(log.messages, posts.get(channelId) ?? [])),
      ];
    }),
  ];
}

const toLog = ({ channelId, ids, marks }: ReadLog): ChannelLog => ({ channelId, first: ids[0] ?? 1, marks });

function count({ journals, logs }: Run, stored: StoredMessage[][], heard: Heard[], rights: number): Counts {
  const posts = journals.flatMap((journal) => journal.posts);
  const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0);
  const acked = (list: { isAcked: boolean }[]) => list.filter(({ isAcked }) => isAcked).length;
  return {
    'posts sent': posts.length,
    'posts acknowledged': posts.filter(({ id }) => id !== null).length,
    'posts repeated after a lost answer and acknowledged': posts.filter(
      ({ attempts, id }) => id !== null && attempts > 1,
    ).length,
    'edits acknowledged': acked(journals.flatMap((journal) => journal.edits)),
    'reactions acknowledged': acked(journals.flatMap((journal) => journal.reactions)),
    'uploads acknowledged': sum(journals.map(({ uploads }) => uploads.length)),
    'replies of models': stored.flat().filter(({ meta }) => meta.model_id).length,
    'events in the logs': sum(logs.map(({ ids }) => ids.length)),
    'events received': sum(heard.flatMap(({ channels }) => channels.map(({ ids }) => ids.length))),
    'connections of subscribers': sum(heard.map(({ connections }) => connections)),
    'changes of rights': rights,
  };
}
