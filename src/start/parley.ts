#!/usr/bin/env node
// The program of the npm package. All of this file is plain JavaScript in the scope of CommonJS, for the reason in main.ts.
const NEEDED = 24;

if (Number.parseInt(process.versions.node, 10) < NEEDED) {
  process.stderr.write(
    `This is Node ${process.versions.node}, and Parley needs ${NEEDED} or newer: https://nodejs.org/en/download\n`,
  );
  process.exit(1);
} else {
  // Beside the program: only users who may change the program may write there. Where it is read-only, this does nothing.
  process.getBuiltinModule('node:module').enableCompileCache(`${__dirname}/../../.cache`);
  const [, , first] = process.argv;
  if (first === undefined || first.startsWith('--workers')) import('../server.ts');
  else import('../cli/main.ts');
}
