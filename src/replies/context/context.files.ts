import type { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { AppError } from '../../core/errors.ts';
import { isObject } from '../../core/json/json.ts';
import type { Scope } from '../../core/scope.ts';
import { storedFileIn } from '../../files/attachments.ts';
import { readerOf } from '../../files/files.access.ts';
import { type FileWithText, readFilesWithText } from '../../files/files.repository.ts';
import type { HeardMessage } from './context.repository.ts';
import type { ImageRoom } from './context.room.ts';
import { scalePicture } from './scaling/scaling.ts';

const IMAGES = 8;
/** Images that are read at most: pictures of all replies are scaled one after the other, and broken ones may take seconds each. */
const IMAGES_READ = 16;
/** Of a stored image, and of one that the model gets. */
const STORED_IMAGE_BYTES = 32 * 1024 ** 2;
const IMAGE_BYTES = 4 * 1024 ** 2;
const ALL_IMAGE_BYTES = 16 * 1024 ** 2;
const TEXT_FILES = 20;
const TEXT_CHARACTERS = 64 * 1024;
const TEXT_BYTES = 1024 ** 2;

const IMAGE = /^image\/(?:png|jpeg|gif|webp)$/;
const EMBEDDED = /^data:image\/(?:png|jpeg|gif|webp);base64,/;
const TEXT = /^(?:text\/|application\/(?:json|xml))/;

/** The long side of images, in pixels. Larger ones cost tokens and time, and the providers scale them down. */
const IMAGE_SIDE = 1_568;

/** What the files of the messages give to the model, by the ids of the messages. */
export interface HeardFiles {
  /** `data:` addresses. */
  images: ReadonlyMap<string, string[]>;
  texts: ReadonlyMap<string, { name: string; text: string }[]>;
  imagesLeftOut: number;
  filesLeftOut: number;
}

/**
 * The images and text files of messages, from the newest message on, as many as the limits allow. Only files
 * that are stored here and that the caller may read, and images in the message itself; no address is fetched.
 * One statement for all.
 */
export async function readHeardFiles(
  scope: Scope,
  messages: readonly HeardMessage[],
  images: { hasVision: boolean; room: ImageRoom },
): Promise<HeardFiles> {
  const items = messages
    .toReversed()
    .flatMap(({ id, files }) =>
      Array.isArray(files) ? files.filter(isObject).map((item) => ({ messageId: id, item })) : [],
    );
  const ids = [...new Set(items.map(({ item }) => storedFileIn(item)).filter((id) => id !== undefined))];
  const found =
    ids.length === 0 ? [] : await readFilesWithText(scope.sql, readerOf(scope), ids, TEXT_CHARACTERS);
  const byId = new Map(found.map((file) => [file.id, file]));
  const taken = new Taken(scope, images);
  for (const { messageId, item } of items) {
    // The reply was stopped.
    scope.signal?.throwIfAborted();
    const id = storedFileIn(item);
    const file = id === undefined ? undefined : byId.get(id);
    if (file) await taken.add(messageId, file);
    else if (typeof item.url === 'string' && EMBEDDED.test(item.url)) {
      await taken.addEmbedded(messageId, item.url);
    }
  }
  return taken;
}

class Taken implements HeardFiles {
  readonly images = new Map<string, string[]>();
  readonly texts = new Map<string, { name: string; text: string }[]>();
  imagesLeftOut = 0;
  filesLeftOut = 0;
  readonly #scope: Scope;
  readonly #hasVision: boolean;
  readonly #room: ImageRoom;
  readonly #count = { images: 0, imagesRead: 0, imageBytes: 0, texts: 0 };

  constructor(scope: Scope, { hasVision, room }: { hasVision: boolean; room: ImageRoom }) {
    this.#scope = scope;
    this.#hasVision = hasVision;
    this.#room = room;
  }

  async add(messageId: string, file: FileWithText): Promise<void> {
    const { id, content_type: type, size } = file;
    if (IMAGE.test(type)) {
      const isTaken = this.#wantsImage && size <= STORED_IMAGE_BYTES;
      if (isTaken) await this.#addImage(messageId, async () => buffer(await this.#open(id)));
      else this.imagesLeftOut += 1;
    } else if (TEXT.test(type) || file.edited_text !== null) await this.#addText(messageId, file);
    else this.filesLeftOut += 1;
  }

  /** @param url a `data:` address */
  async addEmbedded(messageId: string, url: string): Promise<void> {
    if (this.#wantsImage)
      await this.#addImage(messageId, () => Buffer.from(url.slice(url.indexOf(',') + 1), 'base64'));
    else this.imagesLeftOut += 1;
  }

  async #addImage(messageId: string, read: () => Uint8Array | Promise<Uint8Array>): Promise<void> {
    this.#count.imagesRead += 1;
    const { model_image_side: side = IMAGE_SIDE } = this.#scope.configs.current.channels;
    const scaled = await scalePicture(read, side).catch(() => null);
    const size = scaled?.bytes.length ?? 0;
    if (!scaled || !this.#hasRoomFor(size) || !this.#room.take(size)) {
      this.imagesLeftOut += 1;
      return;
    }
    this.#count.images += 1;
    this.#count.imageBytes += size;
    const url = `data:${scaled.type};base64,${Buffer.from(scaled.bytes).toString('base64')}`;
    this.images.set(messageId, [...(this.images.get(messageId) ?? []), url]);
  }

  /** @throws for a file whose bytes are gone or cannot be read now, which is left out. Does not wait during an outage. */
  async #open(id: string): Promise<Readable> {
    const { files } = this.#scope;
    const bytes = files.state()?.state === 'degraded' ? undefined : await files.open(id);
    if (!bytes) throw new AppError('unavailable');
    return bytes;
  }

  async #readText(id: string, size: number): Promise<string> {
    return size === 0 ? '' : text(await this.#open(id));
  }

  get #wantsImage(): boolean {
    const { images, imagesRead } = this.#count;
    return this.#hasVision && images < IMAGES && imagesRead < IMAGES_READ;
  }

  #hasRoomFor(size: number): boolean {
    return size <= IMAGE_BYTES && this.#count.imageBytes + size <= ALL_IMAGE_BYTES;
  }

  async #addText(messageId: string, { id, filename, size, edited_text }: FileWithText): Promise<void> {
    const isTaken = this.#count.texts < TEXT_FILES && (edited_text !== null || size <= TEXT_BYTES);
    const content = isTaken ? (edited_text ?? (await this.#readText(id, size).catch(() => null))) : null;
    if (content === null) {
      this.filesLeftOut += 1;
      return;
    }
    this.#count.texts += 1;
    const cut = { name: filename, text: content.slice(0, TEXT_CHARACTERS).toWellFormed() };
    this.texts.set(messageId, [...(this.texts.get(messageId) ?? []), cut]);
  }
}
