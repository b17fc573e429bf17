const SIDE = 256;

/**
 * The middle square of a picture as a JPEG of 256 × 256 pixels in a `data:` address. Rejects for files that are no picture.
 */
export async function scalePicture(file: Blob): Promise<string> {
  const bitmap = await createImageBitmap(file);
  const side = Math.min(bitmap.width, bitmap.height);
  const canvas = document.createElement('canvas');
  canvas.width = SIDE;
  canvas.height = SIDE;
  const pen = canvas.getContext('2d');
  if (!pen) throw new Error('This browser cannot scale pictures.');
  // Pictures with a transparent ground become JPEG, which has none.
  pen.fillStyle = '#ffffff';
  pen.fillRect(0, 0, SIDE, SIDE);
  const [left, top] = [(bitmap.width - side) / 2, (bitmap.height - side) / 2];
  pen.drawImage(bitmap, left, top, side, side, 0, 0, SIDE, SIDE);
  bitmap.close();
  return canvas.toDataURL('image/jpeg', 0.85);
}
