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
      /** Detected from the bytes. */
      content_type: z.string(),
      /** Bytes. */
      size: z.int(),
      /** The `metadata` that the uploader sent. */
      data: z.record(z.string(), z.unknown()),
    }),
    /** Files are not processed: each is complete when it is stored. */
    data: z.object({ status: z.literal('completed') }),
    created_at: seconds(),
    updated_at: seconds(),
  })
  .meta({ id: 'File' });
export type FileView = z.infer<typeof FileView>;

export const FileDetail = FileView.extend({
  data: z.object({
    status: z.literal('completed'),
    content: z.string().optional().describe('The text of a text file of up to 1 MiB'),
  }),
}).meta({ id: 'FileDetail' });
export type FileDetail = z.infer<typeof FileDetail>;

export const FilePage = z
  .object({ items: z.array(FileView), total: z.int().describe('How many there are in all') })
  .meta({ id: 'FilePage' });
export type FilePage = z.infer<typeof FilePage>;
