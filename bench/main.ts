import { mkdir, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { availability } from './cases/availability.ts';
import { board } from './cases/board.ts';
import { completions } from './cases/completions.ts';
import { configuration } from './cases/configuration.ts';
import { enumeration } from './cases/enumeration.ts';
import { fanout } from './cases/fanout.ts';
import { home } from './cases/home.ts';
import { idle } from './cases/idle.ts';
import { jobs } from './cases/jobs.ts';
import { latency } from './cases/latency.ts';
import { list } from './cases/list.ts';
import { lists } from './cases/lists.ts';
import { memory } from './cases/memory.ts';
import { models } from './cases/models.ts';
import { page } from './cases/page.ts';
import { peer } from './cases/peer.ts';
import { post } from './cases/post.ts';
import { replies } from './cases/replies.ts';
import { revocation } from './cases/revocation.ts';
import { signin } from './cases/signin.ts';
import { statements } from './cases/statements.ts';
import { callTool } from './cases/tools/call.ts';
import { tools } from './cases/tools/tools.ts';
import { trivial } from './cases/trivial.ts';
import { users } from './cases/users.ts';
import { moveTo } from './support/child.ts';
import { describeMachine } from './support/machine.ts';
import { isMet, type Result, renderTable } from './support/report.ts';
import { openWorkspace, type Workspace } from './support/workspace.ts';

const CASES: Record<string, (workspace: Workspace) => Promise<Result[]>> = {
  trivial,
  home,
  list,
  post,
  fanout,
  latency,
  idle,
  jobs,
  statements,
  tool: callTool,
  tools,
  completions,
  configuration,
  enumeration,
  signin,
  revocation,
  replies,
  users,
  lists,
  models,
  board,
  memory,
  availability,
  page,
  peer,
};

const { values } = parseArgs({
  options: {
    /** Names of cases, separated by commas; all by default. */
    only: { type: 'string', default: Object.keys(CASES).join() },
    /** Fewer and shorter rounds, to check that everything works; not for figures. */
    quick: { type: 'boolean', default: false },
  },
});
const names = values.only.split(',');
const unknown = names.filter((name) => !(name in CASES));
if (unknown.length > 0) {
  console.error(`--only knows ${Object.keys(CASES).join(', ')}, not ${unknown.join(', ')}.`);
  process.exit(1);
}

// PostgreSQL is started by this process, and inherits its core.
moveTo('server', [process.pid]);
const workspace = await openWorkspace({ quick: values.quick });
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => void workspace.stop().finally(() => process.exit(1)));
}
try {
  const machine = await describeMachine(workspace.databaseUrl);
  const results: Result[] = [];
  for (const name of names) {
    console.error(`${name} …`);
    results.push(...((await CASES[name]?.(workspace)) ?? []));
  }
  const at = new Date().toISOString();
  const folder = new URL('./results/', import.meta.url);
  await mkdir(folder, { recursive: true });
  const judged = results.map((result) => ({ ...result, met: isMet(result) }));
  const json = JSON.stringify({ at, quick: values.quick, machine, results: judged }, null, 2);
  await writeFile(new URL(`${at.replaceAll(':', '-')}.json`, folder), `${json}\n`);
  console.log(renderTable(results));
  for (const [part, description] of Object.entries(machine)) console.log(`${part}: ${description}`);
} finally {
  await workspace.stop();
}
