import { idOf, kindOf, type StreamEvent, type StreamKind, streamOf } from '../streams.ts';

/** How many events a page of the log has, unless the reader asks for fewer. */
export const LOG_PAGE = 100;

/** The event logs of all kinds of streams, by the full name of a stream. */
export class Logs {
  readonly kinds: readonly StreamKind[];
  readonly #byName: ReadonlyMap<string, StreamKind>;

  constructor(kinds: readonly StreamKind[]) {
    this.kinds = kinds;
    this.#byName = new Map(kinds.map((kind) => [kind.name, kind]));
  }

  kind(stream: string): StreamKind {
    const found = this.#byName.get(kindOf(stream));
    if (!found) throw new Error(`No kind of stream is declared for ${stream}.`);
    return found;
  }

  async now(): Promise<number> {
    return (await this.kinds[0]?.now()) ?? Date.now() * 1000;
  }

  async heads(streams: readonly string[]): Promise<Map<string, number>> {
    const heads = new Map<string, number>();
    for (const one of this.kinds) {
      const ids = streams.filter((stream) => kindOf(stream) === one.name).map(idOf);
      if (ids.length === 0) continue;
      for (const [id, head] of await one.heads(ids)) heads.set(streamOf(one.name, id), head);
    }
    return heads;
  }

  /** The events after a number, oldest first; fewer than `limit` means that there are no more. */
  after(stream: string, number: number, limit: number = LOG_PAGE): Promise<StreamEvent[]> {
    return this.kind(stream).after(idOf(stream), number, limit);
  }

  reload(stream: string, number: number): StreamEvent {
    return this.kind(stream).reload(idOf(stream), number);
  }

  readers(stream: string, userIds: readonly string[]): Promise<string[]> {
    return this.kind(stream).readers(idOf(stream), userIds);
  }
}
