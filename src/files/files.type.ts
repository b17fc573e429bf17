import { isUtf8 } from 'node:buffer';

/**
 * What a file is, by how it begins: never by its name or by what the uploader said. Text is text, whatever it holds: neither HTML nor
 * SVG is told apart from it, and nobody renders either.
 *
 * @param sample the beginning of the file
 * @param isWhole whether that is all of it
 */
export async function typeOf(sample: Buffer, isWhole: boolean): Promise<string> {
  // Loaded for the first upload, as it takes some megabytes.
  const { fileTypeFromBuffer } = await import('file-type');
  const found = await fileTypeFromBuffer(sample);
  if (found) return found.mime;
  return isText(sample, isWhole) ? 'text/plain; charset=utf-8' : 'application/octet-stream';
}

/** The cut may have gone through a character of up to four bytes. */
function isText(sample: Buffer, isWhole: boolean): boolean {
  if (sample.includes(0)) return false;
  const cuts = isWhole ? [0] : [0, 1, 2, 3];
  return cuts.some((cut) => isUtf8(sample.subarray(0, sample.length - cut)));
}
