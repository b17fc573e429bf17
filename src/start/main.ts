// `src/main.ts` is a link to this file. Node 20 refuses TypeScript in the scope of an ES module before it reads a line; here the
// scope is CommonJS, and all of this file is plain JavaScript, so that an old Node gets as far as the message.
const OLDEST = 24;

if (Number.parseInt(process.versions.node, 10) < OLDEST) {
  process.stderr.write(
    `This is Node ${process.versions.node}, and Parley needs ${OLDEST} or newer, which it brings along: start it with npm start.\n`,
  );
  process.exit(1);
} else {
  import('../server.ts');
}
