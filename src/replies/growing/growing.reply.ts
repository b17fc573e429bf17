import type { ToolCallRecord } from '../../completions/completions.types.ts';
import type { SplitText } from '../../completions/reasoning.ts';
import { LIMITS } from '../../core/wire.ts';
import { shownCalls } from './growing.calls.ts';
import { type Delta, GrowingText } from './growing.text.ts';

/** The least interval of the notices of one message, and of its saves. */
const NOTICE_MS = 100;
const SAVE_MS = 1_000;

/** `data.data` of a `message:delta`. */
export interface ReplyDelta extends Delta {
  /** The same for `data.reasoning`. */
  reasoning?: Delta;
  /** Replaces `data.tool_calls`. */
  tool_calls?: ToolCallRecord[];
}

export interface GrowingOptions {
  notify(delta: ReplyDelta): void;
  /** Saves the reply so far. */
  save(content: string, data: Record<string, unknown>): Promise<void>;
}

/** A reply that is being written: tells clients and saves at intervals, however fast the model is. */
export class GrowingReply {
  readonly text = new GrowingText(LIMITS.contentBytes);
  readonly #reasoning = new GrowingText(LIMITS.contentBytes);
  /** The same object changes while its call runs; ids may repeat in the rounds of a turn. */
  readonly #calls = new Set<ToolCallRecord>();
  readonly #options: GrowingOptions;
  #haveCallsChanged = false;
  #areCallsUnsaved = false;
  #notifiedAt = Number.NEGATIVE_INFINITY;
  #notifying: NodeJS.Timeout | undefined;
  #savedAt: number | undefined;
  #saveTimer: NodeJS.Timeout | undefined;
  #saving: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: GrowingOptions) {
    this.#options = options;
  }

  get calls(): ToolCallRecord[] {
    return [...this.#calls];
  }

  get isEmpty(): boolean {
    return this.text.text === '' && this.#reasoning.text === '' && this.#calls.size === 0;
  }

  /** Members for `data` of the message. */
  get data(): Record<string, unknown> {
    const reasoning = this.#reasoning.text;
    return {
      ...(reasoning !== '' && { reasoning }),
      ...(this.#calls.size > 0 && { tool_calls: shownCalls(this.calls) }),
    };
  }

  /** Reasoning beyond the limit is dropped. @returns false if the text is full */
  add({ text, reasoning }: SplitText): boolean {
    if (text === '' && reasoning === '') return true;
    this.#reasoning.add(reasoning);
    const hasRoom = this.text.add(text);
    this.#noteChange();
    return hasRoom;
  }

  noteCall(call: ToolCallRecord): void {
    const isFirst = this.#calls.size === 0;
    this.#calls.add(call);
    this.#haveCallsChanged = true;
    this.#areCallsUnsaved = true;
    this.#noteChange();
    // A tool may have effects: from its first call on, the reply is not repeated after a crash.
    if (isFirst) this.#save();
  }

  /** Ends the notices and saves. Resolves when the last save has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#notifying);
    clearTimeout(this.#saveTimer);
    await this.#saving;
  }

  #noteChange(): void {
    if (this.#isClosed) return;
    const now = performance.now();
    this.#savedAt ??= now;
    this.#saveTimer ??= setTimeout(this.#save, Math.max(0, this.#savedAt + SAVE_MS - now));
    if (this.#notifying) return;
    const wait = this.#notifiedAt + NOTICE_MS - now;
    if (wait <= 0) this.#notify();
    else this.#notifying = setTimeout(this.#notify, wait);
  }

  readonly #notify = (): void => {
    this.#notifying = undefined;
    this.#notifiedAt = performance.now();
    const reasoning = this.#reasoning.delta();
    const delta: ReplyDelta = {
      ...this.text.delta(),
      ...(reasoning.content !== '' && { reasoning }),
      ...(this.#haveCallsChanged && { tool_calls: shownCalls(this.calls) }),
    };
    this.#haveCallsChanged = false;
    this.#options.notify(delta);
  };

  readonly #save = (): void => {
    if (this.#saving || this.#isClosed) return;
    clearTimeout(this.#saveTimer);
    this.#savedAt = performance.now();
    const lengths = [this.text.text.length, this.#reasoning.text.length] as const;
    const hadCalls = this.#areCallsUnsaved;
    this.#areCallsUnsaved = false;
    this.#saving = this.#options
      .save(this.text.text, this.data)
      .then(() => {
        this.text.noteSave(lengths[0]);
        this.#reasoning.noteSave(lengths[1]);
      })
      // The next save has everything again.
      .catch(() => {
        this.#areCallsUnsaved ||= hadCalls;
      })
      .finally(() => {
        this.#saving = undefined;
        this.#saveTimer = undefined;
        if (this.text.isUnsaved || this.#reasoning.isUnsaved || this.#areCallsUnsaved) this.#noteUnsaved();
      });
  };

  #noteUnsaved(): void {
    if (this.#isClosed) return;
    const wait = (this.#savedAt ?? 0) + SAVE_MS - performance.now();
    this.#saveTimer ??= setTimeout(this.#save, Math.max(0, wait));
  }
}
