import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http2';
import { flushCompileCache } from 'node:module';
import { Socket } from 'node:net';
import { answerCalls } from './answer.ts';
import { loadModel } from './model.ts';

/** The number of the user `nobody`. */
const NOBODY = 65_534;

/** The process of the model on board: `main.ts <weights>`. Serves HTTP/2 on the socket that it inherits, and ends with it. */
const [weights = ''] = process.argv.slice(2);
dieFirst();
const model = await loadModel(weights);
flushCompileCache();
giveUpRights();
const server = createServer(answerCalls(model));
// The server has ended, in whatever way. The model may be busy in a thread, which an orderly end would wait for.
server.on('session', (session) => session.on('close', () => process.kill(process.pid, 'SIGKILL')));
server.emit('connection', new Socket({ fd: 3, readable: true, writable: true }));

/** Where memory runs out, the system ends this process before the server and its database. */
function dieFirst(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '500');
  } catch {
    // Some containers close the folder to writers, and other systems do not have it.
  }
}

/** It has read everything that it needs. What people write reaches a parser in C++, which root should not run. */
function giveUpRights(): void {
  if (process.getuid?.() !== 0) return;
  try {
    process.setgroups?.([]);
    process.setgid?.(NOBODY);
    process.setuid?.(NOBODY);
  } catch (error) {
    // The root of some containers may not change its user, and has few other rights.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  }
}
