import { z } from 'zod';

/** The most bytes of one picture. */
const MAX_BYTES = 256 * 1024;
export const MAX_CHARACTERS = 'data:image/jpeg;base64,'.length + Math.ceil(MAX_BYTES / 3) * 4;

const DATA_URI = /^data:image\/(png|jpeg|gif|webp);base64,([A-Za-z0-9+/]+={0,2})$/;

const PNG_END = Buffer.from('0000000049454e44ae426082', 'hex');

/**
 * Whether bytes begin and end as their format requires. A file that only begins so can be a program or a page
 * to a reader that takes it for another type.
 */
const IS: Record<string, (bytes: Buffer) => boolean> = {
  png: (bytes) =>
    bytes.toString('latin1', 0, 8) === '\x89PNG\r\n\x1a\n' &&
    bytes.toString('latin1', 12, 16) === 'IHDR' &&
    bytes.subarray(-PNG_END.length).equals(PNG_END),
  jpeg: (bytes) => bytes.readUIntBE(0, 3) === 0xffd8ff && bytes.readUInt16BE(bytes.length - 2) === 0xffd9,
  gif: (bytes) => /^GIF8[79]a$/.test(bytes.toString('latin1', 0, 6)) && bytes.at(-1) === 0x3b,
  webp: (bytes) =>
    bytes.toString('latin1', 0, 4) === 'RIFF' &&
    bytes.toString('latin1', 8, 12) === 'WEBP' &&
    bytes.readUInt32LE(4) === bytes.length - 8,
};
const SHORTEST = 16;

export interface Picture {
  /** For example `image/png`. */
  type: string;
  bytes: Buffer;
}

/** A picture on another server; browsers fetch it from there. */
export interface ExternalPicture {
  address: string;
}

/** The picture in a data URI; null when its type is not accepted. */
export function decodePicture(uri: string): Picture | null {
  if (uri.length > MAX_CHARACTERS) return null;
  const [, format = '', encoded = ''] = DATA_URI.exec(uri) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length < SHORTEST || bytes.length > MAX_BYTES || !IS[format]?.(bytes)) return null;
  return { type: `image/${format}`, bytes };
}

export const PICTURE_EXPECTED = `must be a data URI of a PNG, JPEG, GIF or WebP picture of at most ${MAX_BYTES} bytes`;

/**
 * A picture in a request, as a data URI. An address of another server would be fetched by every viewer, and
 * SVG can carry scripts.
 */
export const picture = () =>
  z
    .string()
    .max(MAX_CHARACTERS, { abort: true, error: PICTURE_EXPECTED })
    .refine((value) => decodePicture(value) !== null, PICTURE_EXPECTED);
