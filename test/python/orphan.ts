/** Runs a tool that never ends, and prints the ids of its processes. */
import { callTool, startTestPython, toolOf } from '../support/python.ts';

const python = await startTestPython({});
const content = toolOf(
  `async def f(self, __event_emitter__):
    child = subprocess.Popen(["sleep", "60"], process_group=0).pid
    await __event_emitter__({"host": os.getppid(), "tool": os.getpid(), "child": child, "folder": os.getcwd()})
    time.sleep(60)`,
  'import os, subprocess, time',
);
await callTool(python, content, {}, { onEvent: (event) => console.log(JSON.stringify(event)) });
