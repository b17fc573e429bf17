import { defineEntity, p } from '@mikro-orm/core';
import { User } from '../users/users.entity.ts';

/** An upload. Its bytes lie in `DATA_DIR/uploads` under its id; no name of a user's ever becomes a path. Times are seconds. */
export const File = defineEntity({
  name: 'File',
  tableName: 'file',
  properties: {
    id: p.uuid().primary(),
    user: () => p.manyToOne(User).deleteRule('cascade').index(),
    filename: p.text(),
    /** What the bytes are, by looking at them; never what the uploader said. */
    content_type: p.text(),
    size: p.bigint('number'),
    /** Hex. */
    sha256: p.text(),
    meta: p.json<Record<string, unknown>>(),
    /** Stands for the text of the bytes once the owner has edited it. */
    edited_text: p.text().lazy().nullable(),
    created_at: p.integer(),
    updated_at: p.integer(),
  },
});

/** Which messages carry a file: whoever may read one of them may read it. */
export const MessageFile = defineEntity({
  name: 'MessageFile',
  tableName: 'message_file',
  properties: {
    channel_id: p.uuid().primary(),
    message_id: p.uuid().primary(),
    file: () => p.manyToOne(File).primary().deleteRule('cascade').index(),
  },
});
