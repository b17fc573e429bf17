import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createServer } from 'vite';

/** Runs the server, started again at each change of `src`, and Vite with hot reload in front of it. */

const root = join(import.meta.dirname, '..');
const server = spawn(process.execPath, ['--watch-path=src', 'src/main.ts'], { cwd: root, stdio: 'inherit' });
const vite = await createServer({ configFile: join(import.meta.dirname, 'vite.config.ts') });
await vite.listen();
vite.printUrls();

const stop = () => {
  server.kill('SIGTERM');
  void vite.close();
};
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
server.once('exit', (code) => {
  void vite.close();
  process.exitCode = code ?? 0;
});
