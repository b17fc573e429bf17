import { writeFileSync } from 'node:fs';
import { buildDocument, renderDocument } from '../src/doors/docs.document.ts';
import { FILE_PATHS } from '../src/doors/files.document.ts';
import { appRouter } from '../src/router.ts';

writeFileSync(new URL('openapi.json', import.meta.url), renderDocument(buildDocument(appRouter, FILE_PATHS)));
