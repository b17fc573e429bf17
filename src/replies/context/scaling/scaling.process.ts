import { setPriority } from 'node:os';
import sharp from 'sharp';
import type { Scaled, Wanted } from './scaling.ts';

/** Pictures with more pixels are refused before they are unpacked: a small file can hold very many. */
const MOST_PIXELS = 64_000_000;
/** What all providers and the model programs behind them read. */
const PLAIN_FORMATS = ['jpeg', 'png'];
const JPEG_QUALITY = 85;

setPriority(10);
sharp.cache(false);
sharp.concurrency(1);
// SVG and all other formats that may name further files are not read.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Nsgif'].map((format) => `VipsForeignLoad${format}Buffer`),
});

/** The first picture of an animation, upright, with at most this many pixels on its long side. */
async function scale({ bytes, side }: Wanted): Promise<Scaled> {
  const input = () => sharp(bytes, { limitInputPixels: MOST_PIXELS, failOn: 'error', pages: 1 });
  const { format = '', width, height, orientation = 1, hasAlpha } = await input().metadata();
  if (PLAIN_FORMATS.includes(format) && orientation === 1 && Math.max(width, height) <= side) {
    // Unpacks the picture, so that a broken one fails.
    await input().resize(1, 1, { fit: 'fill' }).raw().toBuffer();
    return { type: `image/${format}`, bytes };
  }
  const scaled = input().autoOrient().resize(side, side, { fit: 'inside', withoutEnlargement: true });
  return hasAlpha
    ? { type: 'image/png', bytes: await scaled.png().toBuffer() }
    : { type: 'image/jpeg', bytes: await scaled.jpeg({ quality: JPEG_QUALITY }).toBuffer() };
}

process.on('message', async (wanted: Wanted) => {
  const scaled = await scale(wanted).catch(() => null);
  process.send?.(scaled);
});
// The server has ended.
process.on('disconnect', () => process.exit());
