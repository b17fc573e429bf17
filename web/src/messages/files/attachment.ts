/** A file of a message. Its members are what the sender wrote: any of them may be missing, wrong or hostile. */
export interface Attachment {
  key: string;
  kind: 'picture' | 'file' | 'link';
  /** The stored file; null for a picture inside the message and for a link. */
  id: string | null;
  /** Null where the sender told none. */
  name: string | null;
  /** In bytes. */
  size: number | null;
  /** What a picture shows, or where a link leads. */
  address: string;
}

const ID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/i;
/** The formats that the server sends to be shown, not saved. */
const PICTURE = /^image\/(?:png|jpeg|gif|webp|avif)$/i;
const EMBEDDED = /^data:image\/(?:png|jpeg|gif|webp);base64,/;

const textIn = (entry: Record<string, unknown>, ...names: string[]): string | null => {
  const found = names.map((name) => entry[name]).find((value) => typeof value === 'string' && value !== '');
  return typeof found === 'string' ? found : null;
};

const objectIn = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

export const contentOf = (id: string): string => `/api/v1/files/${encodeURIComponent(id)}/content`;

/** What can be shown of the files of a message; the server has refused addresses of other hosts in pictures. */
export function attachmentsIn(files: readonly unknown[]): Attachment[] {
  return files.flatMap((file, index): Attachment[] => {
    const entry = objectIn(file);
    const inner = objectIn(entry.file);
    const meta = objectIn(entry.meta ?? inner.meta);
    const url = textIn(entry, 'url') ?? '';
    const id =
      ID.exec(textIn(entry, 'id') ?? textIn(inner, 'id') ?? '')?.[0] ??
      (isOwn(url) ? ID.exec(url)?.[0] : null);
    const name = textIn(entry, 'name', 'filename') ?? textIn(inner, 'filename') ?? textIn(meta, 'name');
    const size = [entry.size, inner.size, meta.size].find((value) => typeof value === 'number');
    const type = textIn(entry, 'content_type', 'mime') ?? textIn(meta, 'content_type') ?? '';
    const base = {
      key: `${index} ${id ?? url.slice(0, 80)}`,
      name,
      size: typeof size === 'number' ? size : null,
    };
    if (id) {
      const isPicture = type ? PICTURE.test(type) : entry.type === 'image';
      return [{ ...base, id, kind: isPicture ? 'picture' : 'file', address: contentOf(id) }];
    }
    if (EMBEDDED.test(url)) return [{ ...base, id: null, kind: 'picture', address: url }];
    if (/^https?:\/\//i.test(url)) return [{ ...base, id: null, kind: 'link', address: url }];
    return [];
  });
}

const isOwn = (url: string): boolean =>
  url === '' ||
  url.startsWith('/') ||
  ID.test(url.slice(0, 36)) ||
  url.startsWith(`${window.location.origin}/`);
