import { defineNoun } from '../noun.ts';
import { passOnFiles } from './files.deletion.repository.ts';
import { File, MessageFile } from './files.entity.ts';
import { listKnownFiles } from './files.repository.ts';
import { filesRouter } from './files.router.ts';
import { openFileStore } from './files.store.ts';

export const files = defineNoun({
  name: 'files',
  routers: { files: filesRouter },
  entities: [File, MessageFile],
  async start({ env, sql, warn }) {
    const files = await openFileStore({
      dataDir: env.DATA_DIR,
      listKnown: (among) => listKnownFiles(sql, among),
      onError: warn('Files of uploads that did not end could not be removed.'),
    });
    return { parts: { files }, close: files.close };
  },
  onAccountDeleted: passOnFiles,
});
