import { isLiveStarted, startPosition } from '../../api/live.ts';
import { queryClient, trpc } from '../../api/query.ts';
import { channelSource, type Page, type Source } from './source.ts';

/** What the main line of a channel shows at first. */
export interface Opening {
  page: Page;
  /** Nanoseconds; null without unread messages. */
  readUpTo: number | null;
}

/** Reads from the first unread message on, or the newest messages. */
export async function readOpening(channelId: string, source: Source): Promise<Opening> {
  const query = trpc.channels.get.queryOptions({ id: channelId });
  const [{ last_read_at, unread_count }] = await Promise.all([
    queryClient.fetchQuery({ ...query, staleTime: 2000 }),
    startPosition(),
  ]);
  if (last_read_at === null || unread_count === 0) return { page: await source.newest(), readUpTo: null };
  return { page: await source.at(last_read_at + 1000), readUpTo: last_read_at };
}

let first: { channelId: string; opening: Opening } | null = null;

/** Reads the channel where the visit begins, so that the first view shows its messages. */
export async function prepareOpening(channelId: string): Promise<void> {
  // Later, nothing keeps such messages up to date until a view listens.
  if (isLiveStarted() || first?.channelId === channelId) return;
  const opening = await readOpening(channelId, channelSource(channelId)).catch(() => null);
  const isContinued = (await startPosition()) !== undefined;
  if (opening && isContinued && !isLiveStarted()) first = { channelId, opening };
}

/** The prepared messages, once, and only for a view that is there before the events begin. */
export function takeOpening(channelId: string): Opening | null {
  const prepared = !isLiveStarted() && first?.channelId === channelId ? first.opening : null;
  first = null;
  return prepared;
}
