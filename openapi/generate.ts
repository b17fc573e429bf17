import { readFileSync, writeFileSync } from 'node:fs';
import { buildDocument, renderDocument } from '../src/doors/docs/docs.document.ts';
import { PLAIN_PATHS } from '../src/doors/docs/docs.paths.ts';
import { appRouter } from '../src/router.ts';
import { renderErrors } from './errors.ts';

writeFileSync(
  new URL('openapi.json', import.meta.url),
  renderDocument(buildDocument(appRouter, PLAIN_PATHS)),
);

const errors = new URL('../docs/errors.md', import.meta.url);
writeFileSync(errors, renderErrors(readFileSync(errors, 'utf8')));
