import type { AttachmentsProperties } from '../types.ts';

export function Attachments({ files }: AttachmentsProperties) {
  return files.length ? <div>{files.length}</div> : null;
}
