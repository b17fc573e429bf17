import { isParleyError, type Message } from '@parley/client';
import i18next from 'i18next';
import { api } from '../../api/client.ts';
import { isSignedIn } from '../../api/session.ts';
import { sentenceOf } from '../../base/errors.ts';
import type { Draft, SentFile } from '../../composer/types.ts';
import { noticeFailure } from '../failure.ts';
import type { Entry } from './entry.ts';
import { entriesIn, forget, keep } from './storage.ts';

/** The server recognizes a repeated post for 24 hours; after that, only the person can tell whether to send it. */
const REPEATABLE_MS = 23 * 3600_000;
const LONGEST_PAUSE_MS = 15_000;

const isOld = ({ createdAt }: Entry) => Date.now() - createdAt > REPEATABLE_MS;

/** Passes by itself: no answer, too many requests, an outage behind the server. */
const mayPass = (error: unknown) =>
  isParleyError(error) && (error.status === 0 || error.status === 429 || error.status >= 502);

type Stored = (message: Message, tempId: string) => void;

/**
 * The posts of an account that the server has not confirmed yet. They are kept in the browser's storage, and sent one after
 * the other in each channel, again and again until there is an answer: `temp_id` lets the server store each of them once.
 */
export class Outbox {
  /** False while the account is signed out: its posts must not go out in the name of another one. */
  isActive = false;
  readonly #accountId: string;
  readonly #listeners = new Set<() => void>();
  readonly #storedListeners = new Set<Stored>();
  readonly #sending = new Set<string>();
  #entries: readonly Entry[];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pauseMs = 500;

  constructor(accountId: string) {
    this.#accountId = accountId;
    this.#entries = entriesIn(accountId);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
  readonly entries = (): readonly Entry[] => this.#entries;

  onStored(listener: Stored): () => void {
    this.#storedListeners.add(listener);
    return () => this.#storedListeners.delete(listener);
  }

  add(channelId: string, threadId: string | null, draft: Draft): void {
    const entry: Entry = {
      ...draft,
      tempId: crypto.randomUUID(),
      channelId,
      threadId,
      createdAt: Date.now(),
      error: null,
    };
    this.#put(entry);
    void this.#send(channelId);
  }

  retry(tempId: string): void {
    const entry = this.#entries.find((each) => each.tempId === tempId);
    if (!entry) return;
    this.#remove(tempId);
    // An old one is a new message for the server: the person has seen that it is not there.
    const again = isOld(entry) ? { tempId: crypto.randomUUID(), createdAt: Date.now() } : {};
    this.#put({ ...entry, ...again, error: null });
    void this.#send(entry.channelId);
  }

  discard(tempId: string): void {
    this.#remove(tempId);
  }

  /** The event of an own post came: its answer may be lost. */
  confirm(tempId: string): void {
    this.#remove(tempId);
  }

  /** Sends all that waits: the connection is back, or the person has signed in again. */
  readonly wake = (): void => {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const channelId of new Set(this.#entries.map((entry) => entry.channelId)))
      void this.#send(channelId);
  };

  async #send(channelId: string): Promise<void> {
    if (this.#sending.has(channelId)) return;
    this.#sending.add(channelId);
    try {
      let next = this.#next(channelId);
      while (next && (await this.#post(next))) next = this.#next(channelId);
    } finally {
      this.#sending.delete(channelId);
    }
  }

  #next(channelId: string): Entry | undefined {
    if (!this.isActive || !isSignedIn(this.#accountId)) return undefined;
    for (const entry of this.#entries) {
      if (entry.channelId !== channelId || entry.error !== null) continue;
      if (!isOld(entry)) return entry;
      this.#put({ ...entry, error: i18next.t('messages:outbox.old') });
    }
    return undefined;
  }

  /** Returns false when the channel has to wait. */
  async #post(entry: Entry): Promise<boolean> {
    const { tempId, channelId, threadId, content, files, replyToId } = entry;
    try {
      const message = await api.messages.post.mutate({
        id: channelId,
        content,
        temp_id: tempId,
        parent_id: threadId,
        reply_to_id: replyToId,
        ...(files.length > 0 && { data: { files: files.map(fileEntry) } }),
      });
      this.#pauseMs = 500;
      for (const listener of this.#storedListeners) listener(message, tempId);
      this.#remove(tempId);
      return true;
    } catch (error) {
      noticeFailure(error, channelId);
      if (isParleyError(error) && error.status === 401) return false;
      if (mayPass(error)) {
        this.#wait();
        return false;
      }
      if (this.#entries.includes(entry)) this.#put({ ...entry, error: sentenceOf(error) });
      return true;
    }
  }

  #wait(): void {
    this.#timer ??= setTimeout(this.wake, this.#pauseMs);
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, this.#pauseMs * 2);
  }

  #put(entry: Entry): void {
    keep(this.#accountId, entry);
    const others = this.#entries.some(({ tempId }) => tempId === entry.tempId);
    this.#entries = others
      ? this.#entries.map((each) => (each.tempId === entry.tempId ? entry : each))
      : [...this.#entries, entry];
    this.#tell();
  }

  #remove(tempId: string): void {
    forget(this.#accountId, tempId);
    if (!this.#entries.some((entry) => entry.tempId === tempId)) return;
    this.#entries = this.#entries.filter((entry) => entry.tempId !== tempId);
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Readers see the name and size at once; clients of Open WebUI show a picture by its type and address. */
const fileEntry = ({ id, name, contentType, size }: SentFile) => ({
  type: contentType.startsWith('image/') ? 'image' : 'file',
  id,
  url: `/api/v1/files/${id}/content`,
  name,
  size,
  content_type: contentType,
});
