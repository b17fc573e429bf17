import type { PartState } from '../core/readiness.ts';
import { defineNoun } from '../noun.ts';
import { passOnFiles } from './files.deletion.repository.ts';
import { File, MessageFile } from './files.entity.ts';
import { listKnownFiles } from './files.repository.ts';
import { filesRouter } from './files.router.ts';
import { openFileStore } from './store/files.store.ts';
import { openBytes } from './store/open.ts';

export const files = defineNoun({
  name: 'files',
  routers: { files: filesRouter },
  entities: [File, MessageFile],
  async start({ env, sql, configs, log }) {
    const files = await openFileStore({
      bytes: await openBytes(env),
      installation: configs.installationId,
      listKnown: (among) => listKnownFiles(sql, among),
      log,
    });
    return { parts: { files }, close: files.close };
  },
  readiness({ files }): Record<string, PartState> {
    const state = files.state();
    return state ? { files: state } : {};
  },
  metrics(metrics, { files }) {
    const isAway = () => files.state()?.state === 'degraded';
    metrics.gauge('parley_files_healthy', '0 while the bucket of uploads does not answer', () =>
      Number(!isAway()),
    );
  },
  onAccountDeleted: passOnFiles,
});
