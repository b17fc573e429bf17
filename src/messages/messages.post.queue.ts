import type { Database } from '../database/sql.ts';
import {
  insertPosts,
  insertUnderLock,
  type NewPost,
  type PostOutcome,
  refersToMessage,
} from './messages.post.repository.ts';

declare module '../core/scope.ts' {
  interface Parts {
    readonly posts: PostQueue;
  }
}

/** How many statements are under way at once; what arrives meanwhile goes into the next. */
const STATEMENTS = 2;
/** A statement that takes longer waits for somebody's lock, and keeps no other from being sent. */
const HELD_UP_MS = 100;
/** How long the first post of a statement waits for as many as came together before. */
const GATHER_MS = 2;
/** How many posts, and about how much text, go into one statement. */
const POSTS = 64;
const CHARACTERS = 2 ** 20;

/**
 * Classes of errors by which PostgreSQL refuses a row or gives way to somebody: data, integrity, a deadlock, a limit. The
 * whole statement was taken back, and one post of it may be to blame.
 */
const REFUSED = /^(22|23|40|54)/;

interface Waiting {
  channelId: string;
  /** The post as JSON. */
  text: string;
  refers: boolean;
  /** Whether its statement has to begin with the channel's lock in hand. */
  isStale: boolean;
  resolve(outcome: PostOutcome): void;
  reject(error: unknown): void;
}

/** Stores this process's posts: those that arrive while others are being stored share one statement and one commit. */
export interface PostQueue {
  /** @returns what became of it, when that is safe on disk */
  add(post: NewPost): Promise<PostOutcome>;
}

/**
 * A post on its own is sent at once; where several came together the time before, the first waits a moment for the others. A
 * channel is in one statement at a time: another would only wait for its lock, with a connection in its hands. Statements
 * with several channels wait for none; posts into one that somebody else holds, or has just changed, are tried again on their own,
 * and wait there.
 */
export function createPostQueue(sql: Database): PostQueue {
  let waiting: Waiting[] = [];
  let running = 0;
  /** How many came together the last time. */
  let expected = 1;
  let isDue = false;
  let gathering: NodeJS.Timeout | undefined;
  /** Channels that a statement is busy with. */
  const busy = new Set<string>();
  /** Channels that somebody else held when we asked. */
  const held = new Set<string>();

  function schedule(): void {
    if (isDue || waiting.length === 0 || running >= STATEMENTS) return;
    if (waiting.length < expected) {
      gathering ??= setTimeout(send, GATHER_MS);
      return;
    }
    isDue = true;
    // Everything that this turn of the event loop brings is taken along.
    setImmediate(send);
  }

  function send(): void {
    clearTimeout(gathering);
    gathering = undefined;
    isDue = false;
    while (running < STATEMENTS) {
      const batch = takeBatch();
      if (batch.length === 0) return;
      expected = batch.length;
      void run(batch);
    }
  }

  /** The oldest posts that may go together. Posts into one channel never overtake each other. */
  function takeBatch(): Waiting[] {
    const batch: Waiting[] = [];
    const left: Waiting[] = [];
    /** Channels whose posts stay for now. */
    const passed = new Set(busy);
    let only: string | undefined;
    let characters = 0;
    for (const post of waiting) {
      const { channelId, text } = post;
      const isFirst = batch.length === 0 && !passed.has(channelId);
      if (isFirst && held.has(channelId)) only = channelId;
      const isApart = only === undefined ? held.has(channelId) : only !== channelId;
      const hasRoom = isFirst || (batch.length < POSTS && characters + text.length <= CHARACTERS);
      if (isApart || !hasRoom || passed.has(channelId)) {
        passed.add(channelId);
        left.push(post);
        continue;
      }
      characters += text.length;
      batch.push(post);
    }
    waiting = left;
    return batch;
  }

  async function run(batch: Waiting[]): Promise<void> {
    const channelIds = new Set(batch.map(({ channelId }) => channelId));
    for (const channelId of channelIds) busy.add(channelId);
    running += 1;
    let isCounted = true;
    const leaveCount = () => {
      if (isCounted) running -= 1;
      isCounted = false;
      schedule();
    };
    const patience = setTimeout(leaveCount, HELD_UP_MS);
    await store(batch, channelIds.size === 1);
    clearTimeout(patience);
    for (const channelId of channelIds) busy.delete(channelId);
    leaveCount();
  }

  async function store(batch: Waiting[], mayWait: boolean): Promise<void> {
    const texts = batch.map(({ text }) => text);
    try {
      const stale = batch.find(({ isStale }) => isStale);
      const form = { waits: mayWait, refers: batch.some(({ refers }) => refers) };
      const outcomes = await (stale && mayWait
        ? insertUnderLock(sql, stale.channelId, texts)
        : insertPosts(sql, texts, form));
      if (mayWait) for (const { channelId } of batch) held.delete(channelId);
      for (const [n, post] of batch.entries()) settle(post, outcomes[n], mayWait);
    } catch (error) {
      const { code = '' } = error as { code?: string };
      if (batch.length > 1 && REFUSED.test(code)) for (const post of batch) await store([post], true);
      else for (const { reject } of batch) reject(error);
    }
  }

  function settle(post: Waiting, outcome: PostOutcome | undefined, mayWait: boolean): void {
    if (!outcome) post.reject(new Error('A post has no outcome.'));
    else if (outcome.outcome === 'stale') sendAgain(post, true);
    else if (outcome.outcome !== 'busy') post.resolve(outcome);
    // Whoever waited for a channel and did not get it has seen it deleted.
    else if (mayWait) post.resolve({ outcome: 'absent' });
    else sendAgain(post, post.isStale);
  }

  /** Sends a post on its own next time, where it waits for its channel. */
  function sendAgain(post: Waiting, isStale: boolean): void {
    post.isStale = isStale;
    held.add(post.channelId);
    waiting.push(post);
  }

  return {
    add: (post) =>
      new Promise((resolve, reject) => {
        const { channel_id: channelId } = post.view;
        waiting.push({
          channelId,
          text: JSON.stringify(post),
          refers: refersToMessage(post),
          isStale: false,
          resolve,
          reject,
        });
        schedule();
      }),
  };
}
