import { APIError } from 'openai/core/error';
import { isObject } from '../../core/json/json.ts';

/** How long the rest of an answer may take behind its last event. */
const REST_MS = 1_000;

/**
 * Reads the events of a stream of OpenAI, as its client does (https://html.spec.whatwg.org/multipage/server-sent-events.html). The client's
 * own reader takes five generators for each event.
 */
export class ChunkReader {
  readonly #headers: Headers;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  readonly #decoder = new TextDecoder();
  /** Text that was read, with `\n` as the end of each line; `#at` is where the next line begins. */
  #text = '';
  #at = 0;
  /** The beginning of a line that is not complete. */
  #rest = '';
  #endsWithReturn = false;
  #event = '';
  #data: string | undefined;
  #isDone = false;

  constructor({ body, headers }: Response) {
    this.#headers = headers;
    this.#reader = body?.getReader();
  }

  /** The next event that was read, parsed; undefined when there is none. @throws SyntaxError, APIError for an error of the provider */
  take(): unknown {
    while (!this.#isDone) {
      const end = this.#text.indexOf('\n', this.#at);
      if (end === -1) {
        // Not searched again: a long line comes in many pieces.
        this.#rest += this.#text.slice(this.#at);
        this.#text = '';
        this.#at = 0;
        return undefined;
      }
      const line = this.#rest + this.#text.slice(this.#at, end);
      this.#rest = '';
      this.#at = end + 1;
      if (line !== '') this.#takeLine(line);
      else if (this.#data !== undefined) {
        const value = this.#takeEvent(this.#data);
        if (value !== undefined) return value;
      }
    }
    return undefined;
  }

  /** Reads on, after `take` has returned everything. False: the answer has ended. */
  async read(): Promise<boolean> {
    if (this.#isDone || !this.#reader) return false;
    const { done, value } = await this.#reader.read();
    if (!done) this.#append(this.#decoder.decode(value, { stream: true }));
    // Some providers leave out the empty line behind the last event.
    else if (this.#rest !== '' || this.#data !== undefined) this.#append(`${this.#decoder.decode()}\n\n`);
    else this.#isDone = true;
    return !this.#isDone;
  }

  /** After `[DONE]`: reads to the end of the body, so that the connection to the provider is used again. */
  async finish(): Promise<void> {
    const limit = setTimeout(() => this.#reader?.cancel().catch(() => {}), REST_MS).unref();
    try {
      while (this.#reader && !(await this.#reader.read()).done);
    } catch {
      // The provider closed the connection.
    } finally {
      clearTimeout(limit);
    }
  }

  #append(piece: string): void {
    const text = this.#endsWithReturn && piece.startsWith('\n') ? piece.slice(1) : piece;
    if (piece !== '') this.#endsWithReturn = piece.endsWith('\r');
    this.#text = text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text;
  }

  #takeLine(line: string): void {
    if (line.startsWith('data:')) {
      const data = line.slice(line.startsWith('data: ') ? 6 : 5);
      this.#data = this.#data === undefined ? data : `${this.#data}\n${data}`;
    } else if (line.startsWith('event:')) this.#event = line.slice('event:'.length).trim();
  }

  #takeEvent(text: string): unknown {
    const event = this.#event;
    this.#event = '';
    this.#data = undefined;
    if (text === '[DONE]') {
      this.#isDone = true;
      return undefined;
    }
    const value: unknown = JSON.parse(text);
    const error = isObject(value) ? value.error : undefined;
    if (event === 'error' || error)
      throw new APIError(undefined, (error ?? value) as object, undefined, this.#headers);
    return value;
  }
}
