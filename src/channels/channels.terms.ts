import { z } from 'zod';
import { defineTerms, server } from '../core/terms.ts';

export const terms = defineTerms({
  sections: {
    channels: {
      schema: z.looseObject({
        enable: z.boolean(),
        model_response_mode: z.string().optional(),
        model_chain: z.int().min(1).max(10).optional(),
      }),
      defaults: { enable: true, model_response_mode: 'thread', model_chain: 3 },
      settings: {
        enable: server('Channels'),
        model_response_mode: server(
          'Where models answer: `thread` under the message, any other value in the main line where the message is in it',
        ),
        model_chain: server(
          'How many models may answer one after the other, each called by the one before; with 1, models call no others',
        ),
      },
    },
  },
  permissions: { sharing: { public_channels: false }, features: { channels: true } },
  grantable: 'channel',
});
