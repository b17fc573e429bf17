import { defineNoun } from '../noun.ts';
import { toolFormatRouter } from './format/format.router.ts';
import { functionsRouter } from './functions.router.ts';
import { toolImportRouter } from './import/import.router.ts';
import { toolInstallRouter } from './install/install.router.ts';
import { toolLoadRouter } from './load/load.router.ts';
import { ToolRun } from './runs/runs.entity.ts';
import { passOnTools } from './tools.deletion.repository.ts';
import { Tool } from './tools.entity.ts';
import { errors } from './tools.errors.ts';
import { startTools } from './tools.parts.ts';
import { grantableTools } from './tools.policy.ts';
import { toolsRouter } from './tools.router.ts';
import { ToolUserValves } from './valves/valves.entity.ts';
import { resealValves } from './valves/valves.reseal.ts';
import { valvesRouter } from './valves/valves.router.ts';
import { toolHistoryRouter } from './versions/history.router.ts';
import { ToolVersion } from './versions/versions.entity.ts';
import { toolVersionsRouter } from './versions/versions.router.ts';

export const tools = defineNoun({
  name: 'tools',
  errors,
  routers: {
    functions: functionsRouter,
    tools: toolsRouter,
    toolFormat: toolFormatRouter,
    toolHistory: toolHistoryRouter,
    toolImport: toolImportRouter,
    toolInstall: toolInstallRouter,
    toolLoad: toolLoadRouter,
    toolVersions: toolVersionsRouter,
    valves: valvesRouter,
  },
  entities: [Tool, ToolRun, ToolUserValves, ToolVersion],
  reseal: resealValves,
  start: startTools,
  onAccountDeleted: passOnTools,
  grantable: grantableTools,
});
