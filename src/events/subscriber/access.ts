import { AppError } from '../../core/errors.ts';
import type { AskReaders } from '../hub/readers.ts';
import type { AccessChange } from '../streams.ts';

/** Whose access is asked, and what the answers mean for it. */
export interface Asking {
  readonly userId: string;
  readonly isClosed: boolean;
  /** The streams that it follows. */
  readonly streams: Iterable<string>;
  isFollowing(stream: string): boolean;
  /** The person may not read the stream any more. */
  leave(stream: string): void;
  /** The person may read these, too. @param since the numbers that new readers begin behind, where a change of access named them */
  follow(streams: string[], since: ReadonlyMap<string, number>): Promise<void>;
  /** The person may still read the stream: it goes on. */
  release(stream: string): void;
  close(failure: unknown): void;
}

export interface AccessOptions {
  readers: AskReaders;
  /** The only streams that were asked for; null for all that the person may read. */
  only: ReadonlySet<string> | null;
  /** Says which streams the person may read now, among the given ones or of all. @throws AppError when they may not be here */
  askReadable(among: readonly string[] | null): Promise<ReadonlySet<string>>;
}

/** Asks anew what a subscriber may read, one question at a time, for as long as anything is in doubt. */
export class Access {
  readonly #subscriber: Asking;
  readonly #options: AccessOptions;
  /** Streams in doubt, each with the number that a new reader begins behind. */
  #doubted = new Map<string, number>();
  #isAllDoubted = false;
  #asking: Promise<void> | undefined;

  constructor(subscriber: Asking, options: AccessOptions) {
    this.#subscriber = subscriber;
    this.#options = options;
  }

  get isAsking(): boolean {
    return this.#asking !== undefined;
  }

  isInDoubt(stream: string): boolean {
    return this.#isAllDoubted || this.#doubted.has(stream);
  }

  /** Who may read a stream has changed. */
  doubt({ stream, since }: AccessChange): void {
    if (!this.#doubted.has(stream)) this.#doubted.set(stream, since);
    void this.#askSoon();
  }

  /** What the person may do has changed. Resolves when that is followed, or when it closed the subscriber. */
  doubtAll(): Promise<void> {
    this.#isAllDoubted = true;
    return this.#askSoon();
  }

  #askSoon(): Promise<void> {
    this.#asking ??= this.#askAll();
    return this.#asking;
  }

  async #askAll(): Promise<void> {
    try {
      while (!this.#subscriber.isClosed && (this.#isAllDoubted || this.#doubted.size > 0)) await this.#ask();
    } catch (error) {
      this.#subscriber.close(error);
    } finally {
      // In the same turn as the last look at the doubts: one that comes later must begin anew.
      this.#asking = undefined;
    }
  }

  async #ask(): Promise<void> {
    const { only } = this.#options;
    const since = this.#doubted;
    const isAll = this.#isAllDoubted;
    this.#doubted = new Map();
    this.#isAllDoubted = false;
    const asked = isAll ? [...this.#subscriber.streams] : [...since.keys()];
    const among = isAll ? only && [...only] : await this.#changedAmong(asked);
    if (among?.length !== 0) await this.#bringInLine(among, since);
    // What is in doubt again stays held: this answer may be from before the change.
    for (const stream of asked) if (!this.isInDoubt(stream)) this.#subscriber.release(stream);
  }

  /** Those streams that came within or out of reach: one statement tells it to all subscribers, and most need no more. */
  async #changedAmong(streams: string[]): Promise<string[]> {
    const { userId } = this.#subscriber;
    const readers = await Promise.all(streams.map((stream) => this.#options.readers(stream, [userId])));
    return streams.filter((stream, at) => readers[at]?.has(userId) !== this.#subscriber.isFollowing(stream));
  }

  /** @param among null for all streams */
  async #bringInLine(among: readonly string[] | null, since: ReadonlyMap<string, number>): Promise<void> {
    const { only, askReadable } = this.#options;
    const subscriber = this.#subscriber;
    const readable = await askReadable(among);
    if (subscriber.isClosed) return;
    if (only && among?.some((stream) => !readable.has(stream))) throw new AppError('forbidden');
    for (const stream of among ?? [...subscriber.streams]) {
      if (subscriber.isFollowing(stream) && !readable.has(stream)) subscriber.leave(stream);
    }
    const added = [...readable].filter((stream) => !subscriber.isFollowing(stream));
    if (added.length > 0) await subscriber.follow(added, since);
  }
}
