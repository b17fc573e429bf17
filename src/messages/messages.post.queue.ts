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
/** A statement that takes longer waits for a lock, and keeps no other from being sent. */
const HELD_UP_MS = 100;
/** How long the first post of a statement waits for as many as came together before. */
const GATHER_MS = 2;
/** How many posts, and about how much text, go into one statement. */
const POSTS = 64;
const CHARACTERS = 2 ** 20;

/**
 * Classes of errors by which PostgreSQL refuses a row or ends a conflict: data, integrity, a deadlock, a limit. The whole
 * statement was rolled back, and one post of it may be the cause.
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

export const createPostQueue = (sql: Database): PostQueue => new Posts(sql);

/**
 * A post on its own is sent at once; where several came together the time before, the first waits a moment for the others. A
 * channel is in one statement at a time: another would only wait for its lock, with a connection in its hands. Statements
 * with several channels wait for none; posts into one that another transaction holds, or has just changed, are tried again on
 * their own, and wait there.
 */
class Posts implements PostQueue {
  readonly #sql: Database;
  #waiting: Waiting[] = [];
  /** How many statements are under way, without those that wait for a lock. */
  #running = 0;
  /** How many posts came together the last time. */
  #expected = 1;
  /** Whether posts are sent at the end of this turn of the event loop. */
  #isDue = false;
  #gathering: NodeJS.Timeout | undefined;
  /** Channels that a statement is busy with. */
  readonly #busy = new Set<string>();
  /** Channels that another transaction held when a statement asked. */
  readonly #held = new Set<string>();

  constructor(sql: Database) {
    this.#sql = sql;
  }

  add(post: NewPost): Promise<PostOutcome> {
    return new Promise((resolve, reject) => {
      const { channel_id: channelId } = post.view;
      this.#waiting.push({
        channelId,
        text: JSON.stringify(post),
        refers: refersToMessage(post),
        isStale: false,
        resolve,
        reject,
      });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isDue || this.#waiting.length === 0 || this.#running >= STATEMENTS) return;
    if (this.#waiting.length < this.#expected) {
      this.#gathering ??= setTimeout(this.#send, GATHER_MS);
      return;
    }
    this.#isDue = true;
    // Everything that this turn of the event loop brings is taken along.
    setImmediate(this.#send);
  }

  readonly #send = (): void => {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    this.#isDue = false;
    while (this.#running < STATEMENTS) {
      const batch = this.#takeBatch();
      if (batch.length === 0) return;
      this.#expected = batch.length;
      void this.#run(batch);
    }
  };

  /** The oldest posts that may go together. Posts into one channel never overtake each other. */
  #takeBatch(): Waiting[] {
    const batch: Waiting[] = [];
    const left: Waiting[] = [];
    /** Channels whose posts stay for now. */
    const passed = new Set(this.#busy);
    const held = this.#held;
    let only: string | undefined;
    let characters = 0;
    for (const post of this.#waiting) {
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
    this.#waiting = left;
    return batch;
  }

  async #run(batch: Waiting[]): Promise<void> {
    const channelIds = new Set(batch.map(({ channelId }) => channelId));
    for (const channelId of channelIds) this.#busy.add(channelId);
    this.#running += 1;
    let isCounted = true;
    const leaveCount = () => {
      if (isCounted) this.#running -= 1;
      isCounted = false;
      this.#schedule();
    };
    const patience = setTimeout(leaveCount, HELD_UP_MS);
    await this.#store(batch, channelIds.size === 1);
    clearTimeout(patience);
    for (const channelId of channelIds) this.#busy.delete(channelId);
    leaveCount();
  }

  /** @param mayWait whether all posts are for one channel, so that its lock may be waited for */
  async #store(batch: Waiting[], mayWait: boolean): Promise<void> {
    const texts = batch.map(({ text }) => text);
    try {
      const stale = batch.find(({ isStale }) => isStale);
      const form = { waits: mayWait, refers: batch.some(({ refers }) => refers) };
      const outcomes = await (stale && mayWait
        ? insertUnderLock(this.#sql, stale.channelId, texts)
        : insertPosts(this.#sql, texts, form));
      if (mayWait) for (const { channelId } of batch) this.#held.delete(channelId);
      for (const [n, post] of batch.entries()) this.#settle(post, outcomes[n], mayWait);
    } catch (error) {
      const { code = '' } = error as { code?: string };
      if (batch.length > 1 && REFUSED.test(code)) for (const post of batch) await this.#store([post], true);
      else for (const { reject } of batch) reject(error);
    }
  }

  #settle(post: Waiting, outcome: PostOutcome | undefined, mayWait: boolean): void {
    if (!outcome) post.reject(new Error('A post has no outcome.'));
    else if (outcome.outcome === 'stale') this.#sendAgain(post, true);
    else if (outcome.outcome !== 'busy') post.resolve(outcome);
    // A post that waited for the channel's row and did not get it: the row was deleted.
    else if (mayWait) post.resolve({ outcome: 'absent' });
    else this.#sendAgain(post, post.isStale);
  }

  /** Sends a post on its own next time, where it waits for its channel. */
  #sendAgain(post: Waiting, isStale: boolean): void {
    post.isStale = isStale;
    this.#held.add(post.channelId);
    this.#waiting.push(post);
  }
}
