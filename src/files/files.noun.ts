import { defineNoun } from '../core/noun.ts';
import { passOnFiles } from './files.deletion.repository.ts';
import { File, MessageFile } from './files.entity.ts';
import { filesRouter } from './files.router.ts';

export const files = defineNoun({
  name: 'files',
  routers: { files: filesRouter },
  entities: [File, MessageFile],
  onAccountDeleted: passOnFiles,
});
