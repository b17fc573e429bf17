import { z } from 'zod';
import { defineTerms, server } from '../core/terms.ts';

/** The largest upload unless the configuration says otherwise. */
export const MAX_UPLOAD_BYTES = 100 * 1024 * 1024;

export const terms = defineTerms({
  sections: {
    files: {
      schema: z
        .looseObject({
          max_size: z.int().min(1024, 'must be a number of bytes, at least 1024'),
          show_external_pictures: z.boolean().optional(),
        })
        .optional(),
      defaults: { max_size: MAX_UPLOAD_BYTES, show_external_pictures: false },
      settings: {
        max_size: server('The largest upload, in bytes'),
        show_external_pictures: server(
          'Profile pictures at https addresses are shown, by a redirect: the server there sees who looks',
        ),
      },
    },
  },
  permissions: { chat: { file_upload: true } },
});
