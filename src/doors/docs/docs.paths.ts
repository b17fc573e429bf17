import { FILE_PATHS } from '../files/files.document.ts';
import { IMPORT_PATHS } from '../files/imports.document.ts';
import { PICTURE_PATHS } from '../files/pictures.document.ts';
import { MESSAGES_PATHS } from '../messages/messages.document.ts';
import { OAUTH_PATHS } from '../oauth/oauth.document.ts';
import { OPENAI_PATHS } from '../openai/openai.document.ts';

/** All plain routes of the document. */
export const PLAIN_PATHS = {
  ...FILE_PATHS,
  ...IMPORT_PATHS,
  ...PICTURE_PATHS,
  ...OAUTH_PATHS,
  ...OPENAI_PATHS,
  ...MESSAGES_PATHS,
};
