import { defineEntity, p } from '@mikro-orm/core';
import { User } from '../users/users.entity.ts';

/**
 * An upload. The bytes are in the store (`store/`) under the file's id; a user's file name never becomes a
 * path. Times are seconds.
 */
export const File = defineEntity({
  name: 'File',
  tableName: 'file',
  properties: {
    id: p.uuid().primary(),
    user: () => p.manyToOne(User).deleteRule('cascade').index(),
    filename: p.text(),
    /** Detected from the bytes, not taken from the uploader. */
    content_type: p.text(),
    size: p.bigint('number'),
    /** Hex. */
    sha256: p.text(),
    meta: p.json<Record<string, unknown>>(),
    /** Replaces the text of the bytes after the owner edits it. */
    edited_text: p.text().lazy().nullable(),
    created_at: p.integer(),
    updated_at: p.integer(),
  },
});

/** The messages that carry a file: readers of one of them may read the file. */
export const MessageFile = defineEntity({
  name: 'MessageFile',
  tableName: 'message_file',
  properties: {
    channel_id: p.uuid().primary(),
    message_id: p.uuid().primary(),
    file: () => p.manyToOne(File).primary().deleteRule('cascade').index(),
  },
});
