import { FILE_PATHS } from './files.document.ts';
import { IMPORT_PATHS } from './imports.document.ts';
import { OAUTH_PATHS } from './oauth.document.ts';
import { PICTURE_PATHS } from './pictures.document.ts';

/** All plain routes that belong into the document. */
export const PLAIN_PATHS = { ...FILE_PATHS, ...IMPORT_PATHS, ...PICTURE_PATHS, ...OAUTH_PATHS };
