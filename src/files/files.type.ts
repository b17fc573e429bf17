import { isUtf8 } from 'node:buffer';

/**
 * The type of a file, detected from its first bytes; its name and the uploader's type are ignored. HTML and
 * SVG count as plain text, and are never rendered.
 *
 * @param sample the first bytes of the file
 * @param isWhole whether the sample is the whole file
 */
export async function typeOf(sample: Buffer, isWhole: boolean): Promise<string> {
  // Loaded at the first upload, because it takes several megabytes.
  const { fileTypeFromBuffer } = await import('file-type');
  const found = await fileTypeFromBuffer(sample);
  if (found) return found.mime;
  return isText(sample, isWhole) ? 'text/plain; charset=utf-8' : 'application/octet-stream';
}

/** The cut may have split a character of up to four bytes. */
function isText(sample: Buffer, isWhole: boolean): boolean {
  if (sample.includes(0)) return false;
  const cuts = isWhole ? [0] : [0, 1, 2, 3];
  return cuts.some((cut) => isUtf8(sample.subarray(0, sample.length - cut)));
}
