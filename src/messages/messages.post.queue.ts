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

/** The number of concurrent statements. Posts that arrive meanwhile go into the next statement. */
const STATEMENTS = 2;
/** After this time a statement probably waits for a lock, and no longer delays other statements. */
const HELD_UP_MS = 100;
/** How long the first post waits for as many other posts as came together the last time. */
const GATHER_MS = 2;
/** The maximum of posts in one statement, and approximately of characters. */
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
  /** Whether its statement must begin after the channel is locked. */
  isStale: boolean;
  resolve(outcome: PostOutcome): void;
  reject(error: unknown): void;
}

/**
 * Stores the posts of this process. Posts that arrive while others are being stored share one statement and
 * one commit.
 */
export interface PostQueue {
  /** @returns the outcome, after the commit */
  add(post: NewPost): Promise<PostOutcome>;
}

export const createPostQueue = (sql: Database): PostQueue => new Posts(sql);

/**
 * A single post is sent at once. If several posts came together the last time, the first one waits a moment
 * for others. A channel is in one statement at a time, because a second statement would only wait for its
 * lock and hold a connection. Statements for several channels wait for no lock. A post into a channel that is
 * locked, or has just changed, is sent again in a statement of its own channel, which waits.
 */
class Posts implements PostQueue {
  readonly #sql: Database;
  #waiting: Waiting[] = [];
  /** The number of running statements, without those that wait for a lock. */
  #running = 0;
  /** The number of posts that came together the last time. */
  #expected = 1;
  /** Whether posts are sent at the end of this turn of the event loop. */
  #isDue = false;
  #gathering: NodeJS.Timeout | undefined;
  /** Channels with a running statement. */
  readonly #busy = new Set<string>();
  /** Channels that another transaction had locked. */
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
    // Includes all posts that arrive in this turn of the event loop.
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

  /** The oldest posts that may share a statement. Posts into one channel keep their order. */
  #takeBatch(): Waiting[] {
    const batch: Waiting[] = [];
    const left: Waiting[] = [];
    /** Channels whose posts are not in this batch. */
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

  /** @param mayWait true if all posts are for one channel, so the statement may wait for its lock */
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
    // The statement waited for the channel's row and did not get it: the row was deleted.
    else if (mayWait) post.resolve({ outcome: 'absent' });
    else this.#sendAgain(post, post.isStale);
  }

  /** Sends a post again, in a statement of its own channel, which waits for the lock. */
  #sendAgain(post: Waiting, isStale: boolean): void {
    post.isStale = isStale;
    this.#held.add(post.channelId);
    this.#waiting.push(post);
  }
}
