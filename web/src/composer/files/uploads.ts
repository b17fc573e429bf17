import i18next from 'i18next';
import { useSyncExternalStore } from 'react';
import { sizeText } from '../../base/size.ts';
import { readDraft, updateDraft } from '../drafts.ts';
import type { SentFile } from '../types.ts';
import { upload } from './upload.ts';

export interface Upload {
  key: string;
  name: string;
  contentType: string;
  size: number;
  /** A picture of this browser, shown before the server has it. */
  preview: string | null;
  state: 'waiting' | 'sending' | 'done' | 'failed';
  /** From 0 to 1. */
  progress: number;
  error: string | null;
  sent: SentFile | null;
}

/** The server takes this many files in a message. */
const MOST_FILES = 20;
/** The server takes 4 uploads of a person at once; one is left for another view. */
const AT_ONCE = 3;
const MIB = 1024 * 1024;

/** The files of one draft. They upload as they are added, also while another channel is shown. */
class Uploads {
  list: Upload[];
  readonly #draft: string;
  readonly #files = new Map<string, { file: File; controller: AbortController }>();
  readonly #listeners = new Set<() => void>();

  constructor(draft: string) {
    this.#draft = draft;
    this.list = readDraft(draft).files.map(doneUpload);
  }

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** @param mostMib the limit of the server for one file, if there is one */
  add(files: File[], mostMib: number | undefined): void {
    const added = files.map((file, index): Upload => {
      const key = crypto.randomUUID();
      const error = refusalOf(file, this.list.length + index, mostMib);
      if (!error) this.#files.set(key, { file, controller: new AbortController() });
      const { name, type: contentType, size } = file;
      const preview = contentType.startsWith('image/') ? URL.createObjectURL(file) : null;
      const state = error ? 'failed' : 'waiting';
      return { key, name, contentType, size, preview, state, progress: 0, error, sent: null };
    });
    this.#set([...this.list, ...added]);
  }

  /** Cancels it where it is still sent. */
  remove(key: string): void {
    this.#files.get(key)?.controller.abort();
    this.#files.delete(key);
    for (const { preview } of this.list.filter((one) => one.key === key)) release(preview);
    this.#set(this.list.filter((one) => one.key !== key));
  }

  canRetry = (key: string): boolean => this.#files.has(key);

  retry = (key: string): void => this.#change(key, { state: 'waiting', progress: 0 });

  /** The message took them. */
  clear(): void {
    for (const { preview } of this.list) release(preview);
    this.#set([]);
  }

  #change(key: string, changes: Partial<Upload>): void {
    this.#set(this.list.map((one) => (one.key === key ? { ...one, ...changes } : one)));
  }

  #set(list: Upload[]): void {
    this.list = list;
    updateDraft(this.#draft, { files: list.flatMap(({ sent }) => sent ?? []) });
    for (const listener of this.#listeners) listener();
    const isBusy = list.filter(({ state }) => state === 'sending').length >= AT_ONCE;
    const next = isBusy ? undefined : list.find(({ state }) => state === 'waiting');
    if (next) void this.#send(next.key);
  }

  async #send(key: string): Promise<void> {
    const waiting = this.#files.get(key);
    if (!waiting) return;
    this.#change(key, { state: 'sending', error: null });
    try {
      const sent = await upload(waiting.file, {
        signal: waiting.controller.signal,
        onProgress: (progress) => this.#change(key, { progress }),
      });
      this.#files.delete(key);
      this.#change(key, { state: 'done', progress: 1, sent });
    } catch (error) {
      const message = (error as Error).message || i18next.t('common:error.unreachable');
      this.#change(key, { state: 'failed', error: message });
    }
  }
}

function refusalOf(file: File, before: number, mostMib: number | undefined): string | null {
  if (before >= MOST_FILES) return i18next.t('composer:upload.tooMany', { most: MOST_FILES });
  if (mostMib && file.size > mostMib * MIB)
    return i18next.t('composer:upload.tooLarge', { most: sizeText(mostMib * MIB) });
  return null;
}

const release = (preview: string | null) => {
  if (preview?.startsWith('blob:')) URL.revokeObjectURL(preview);
};

const doneUpload = (sent: SentFile): Upload => ({
  key: sent.id,
  name: sent.name,
  contentType: sent.contentType,
  size: sent.size,
  preview: sent.contentType.startsWith('image/') ? `/api/v1/files/${sent.id}/content` : null,
  state: 'done',
  progress: 1,
  error: null,
  sent,
});

const known = new Map<string, Uploads>();

/** The files of the draft with this key. */
export function useUploads(draft: string): Uploads {
  const uploads = known.get(draft) ?? new Uploads(draft);
  known.set(draft, uploads);
  useSyncExternalStore(uploads.subscribe, () => uploads.list);
  return uploads;
}
