import { writeFileSync } from 'node:fs';
import { buildDocument, renderDocument } from '../src/doors/docs.document.ts';
import { PLAIN_PATHS } from '../src/doors/docs.paths.ts';
import { appRouter } from '../src/router.ts';

writeFileSync(
  new URL('openapi.json', import.meta.url),
  renderDocument(buildDocument(appRouter, PLAIN_PATHS)),
);
