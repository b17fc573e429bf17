import { z } from 'zod';
import { seconds } from '../core/wire.ts';

/** An upload, without its bytes. */
export const FileView = z
  .object({
    id: z.string(),
    user_id: z.string(),
    /** SHA-256 of the bytes, hex. */
    hash: z.string(),
    filename: z.string(),
    meta: z.object({
      name: z.string(),
      /** What the bytes are, by looking at them. */
      content_type: z.string(),
      /** Bytes. */
      size: z.int(),
      /** What the uploader sent along as `metadata`. */
      data: z.record(z.string(), z.unknown()),
    }),
    created_at: seconds(),
    updated_at: seconds(),
  })
  .meta({ id: 'File' });
export type FileView = z.infer<typeof FileView>;
