import { AppError } from '../core/errors.ts';
import { isObject } from '../core/json/json.ts';
import type { Scope } from '../core/scope.ts';
import { UUID } from '../core/wire.ts';
import { readerOf } from './files.access.ts';
import { listReadableFiles } from './files.repository.ts';

const MAX_ITEMS = 20;

const FILE_ID = new RegExp(`^${UUID}$`, 'i');
/** Some clients send only the id, and complete the path when they show the file. */
const FILE_PATH = new RegExp(`^(?:/api(?:/v1)?/files/)?(${UUID})(?:/content)?/?$`, 'i');
const EMBEDDED_IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/;

/** Kinds of items that viewers show or fetch automatically; a missing kind counts as `file`. */
const SHOWN: readonly unknown[] = ['file', 'image', undefined, null];

type Members = Record<string, unknown>;
const refuse = (path: string, message: string) =>
  new AppError('bad_request', { detail: `${path}: ${message}` });

/**
 * The ids of stored files in `data.files` of a message. The caller may attach their own files and files that
 * they may already read. Readers of the message can then read these files.
 *
 * A viewer fetches the items that it shows. An address chosen by the sender would reveal to the sender who
 * reads, and when. Files and images must therefore be stored here (`/api/v1/files/{id}/content`, or the id
 * alone) or in the item itself (`data:image/…;base64`). Items of other kinds may link to http(s).
 *
 * @param data as the caller sent it. In an edit, not the merged data: a file that the message already has may
 *   have been deleted
 * @throws bad_request naming the item
 */
export async function attachmentsOf(scope: Scope, data: Members | null | undefined): Promise<string[]> {
  const items = data?.files;
  if (items === undefined || items === null) return [];
  if (!Array.isArray(items)) throw refuse('data.files', 'must be an array');
  if (items.length > MAX_ITEMS) throw refuse('data.files', `must have at most ${MAX_ITEMS} items`);

  const own = webUrlOf(scope);
  const named = new Map<string, string>();
  for (const [index, item] of items.entries()) {
    const path = `data.files[${index}]`;
    if (!isObject(item)) throw refuse(path, 'must be an object');
    for (const id of namedBy(item, path, own)) named.set(id.toLowerCase(), path);
  }
  if (named.size === 0) return [];

  const ids = [...named.keys()];
  const readable = new Set(await listReadableFiles(scope.sql, readerOf(scope), ids));
  for (const [id, path] of named) {
    if (!readable.has(id)) throw refuse(path, `there is no file ${id} that you may attach`);
  }
  return ids;
}

/** Whether a message may carry this item of `files`, as far as its form tells; see `attachmentsOf`. */
export function isShowable(scope: Pick<Scope, 'configs'>, item: unknown): item is Members {
  try {
    return isObject(item) && namedBy(item, 'files', webUrlOf(scope)) !== undefined;
  } catch {
    return false;
  }
}

/**
 * The id of the stored file in an item of `data.files`, as it was stored with a message; undefined for other
 * items.
 */
export function storedFileIn({ id, url, file }: Members): string | undefined {
  const own = [id, isObject(file) ? file.id : undefined].find(
    (one): one is string => typeof one === 'string' && FILE_ID.test(one),
  );
  const named = typeof url === 'string' ? FILE_PATH.exec(URL.parse(url)?.pathname ?? url)?.[1] : undefined;
  return (own ?? named)?.toLowerCase();
}

/** The address of this server for clients, which they may put before its paths. */
const webUrlOf = ({ configs }: Pick<Scope, 'configs'>) => configs.current.webui.url.replace(/\/$/, '');

/** The ids of stored files in an item. @throws bad_request for an address that is not allowed */
function namedBy(item: Members, path: string, own: string): string[] {
  const { type, url, content_type: contentType } = item;
  const isShown = SHOWN.includes(type) || (typeof contentType === 'string' && /^image\//i.test(contentType));
  const ids = isShown ? [item.id, isObject(item.file) ? item.file.id : undefined] : [];
  const found = ids.filter((id): id is string => typeof id === 'string' && FILE_ID.test(id));
  if (url === undefined || url === null || url === '') return found;
  if (typeof url !== 'string') throw refuse(`${path}.url`, 'must be text');

  const local = own !== '' && url.startsWith(`${own}/`) ? url.slice(own.length) : url;
  const id = FILE_PATH.exec(local)?.[1];
  if (id) return [...found, id];
  if (isShown && !EMBEDDED_IMAGE.test(url)) {
    throw refuse(
      `${path}.url`,
      'must be the path of an uploaded file, or a png, jpeg, gif or webp as data: address',
    );
  }
  if (!isShown && !/^https?:\/\//i.test(url)) throw refuse(`${path}.url`, 'must be an http or https address');
  return found;
}
