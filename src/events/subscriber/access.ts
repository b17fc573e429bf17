import { AppError } from '../../core/errors.ts';
import type { AskReaders } from '../hub/readers.ts';
import type { AccessChange } from '../streams.ts';

/** The subscriber whose access is checked, and its reactions to the answers. */
export interface Asking {
  readonly userId: string;
  readonly isClosed: boolean;
  /** The streams that it follows. */
  readonly streams: Iterable<string>;
  isFollowing(stream: string): boolean;
  /** The person may not read the stream any more. */
  leave(stream: string): void;
  /** The person may read these streams as well. @param since the numbers after which new readers begin, where a change named them */
  follow(streams: string[], since: ReadonlyMap<string, number>): Promise<void>;
  /** Tells the client that the rights of the person may have changed. */
  tellRights(): void;
  /** The person may still read the stream. */
  release(stream: string): void;
  close(failure: unknown): void;
}

export interface AccessOptions {
  readers: AskReaders;
  /** The only streams of the subscription; null for all that the person may read. */
  only: ReadonlySet<string> | null;
  /** The streams that the person may read now, among the given ones or of all. @throws AppError when the person is not admitted */
  askReadable(among: readonly string[] | null): Promise<ReadonlySet<string>>;
}

/** Checks anew what a subscriber may read, one question at a time, as long as streams are in doubt. */
export class Access {
  readonly #subscriber: Asking;
  readonly #options: AccessOptions;
  /** Streams in doubt, each with the number after which a new reader begins. */
  #doubted = new Map<string, number>();
  #isAllDoubted = false;
  /** Whether the client is told of the next answer, whatever it is. */
  #isChange = false;
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

  /** The readers of a stream have changed. */
  doubt({ stream, since }: AccessChange): void {
    if (!this.#doubted.has(stream)) this.#doubted.set(stream, since);
    void this.#askSoon();
  }

  /**
   * Checks all streams. Resolves when the answer is applied, or has closed the subscriber.
   *
   * @param isChange whether the rights of the person may have changed, so that the client is told
   */
  doubtAll(isChange: boolean): Promise<void> {
    this.#isAllDoubted = true;
    this.#isChange ||= isChange;
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
      // In the same turn as the last check for doubts: a later doubt must start another round.
      this.#asking = undefined;
    }
  }

  async #ask(): Promise<void> {
    const { only } = this.#options;
    const since = this.#doubted;
    const [isAll, isChange] = [this.#isAllDoubted, this.#isChange];
    this.#doubted = new Map();
    this.#isAllDoubted = false;
    this.#isChange = false;
    const asked = isAll ? [...this.#subscriber.streams] : [...since.keys()];
    const among = isAll ? only && [...only] : await this.#changedAmong(asked);
    const hasLost = among?.length !== 0 && (await this.#bringInLine(among, since));
    // A stream that is in doubt again stays held: this answer may be from before the change.
    for (const stream of asked) if (!this.isInDoubt(stream)) this.#subscriber.release(stream);
    if (isChange || hasLost) this.#subscriber.tellRights();
  }

  /** The streams whose access has changed. One statement answers all subscribers, and most need no further one. */
  async #changedAmong(streams: string[]): Promise<string[]> {
    const { userId } = this.#subscriber;
    const readers = await Promise.all(streams.map((stream) => this.#options.readers(stream, [userId])));
    return streams.filter((stream, at) => readers[at]?.has(userId) !== this.#subscriber.isFollowing(stream));
  }

  /** @param among null for all streams @returns whether the person has lost one */
  async #bringInLine(among: readonly string[] | null, since: ReadonlyMap<string, number>): Promise<boolean> {
    const { only, askReadable } = this.#options;
    const subscriber = this.#subscriber;
    const readable = await askReadable(among);
    if (subscriber.isClosed) return false;
    if (only && among?.some((stream) => !readable.has(stream))) throw new AppError('forbidden');
    const lost = (among ?? [...subscriber.streams]).filter(
      (stream) => subscriber.isFollowing(stream) && !readable.has(stream),
    );
    for (const stream of lost) subscriber.leave(stream);
    const added = [...readable].filter((stream) => !subscriber.isFollowing(stream));
    if (added.length > 0) await subscriber.follow(added, since);
    return lost.length > 0;
  }
}
