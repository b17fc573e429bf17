import { z } from 'zod';
import { defineTerms, server } from '../core/terms.ts';

export const terms = defineTerms({
  sections: {
    channels: {
      schema: z.looseObject({
        enable: z.boolean(),
        model_response_mode: z.string().optional(),
        model_chain: z.int().min(1).max(10).optional(),
        model_image_side: z.int().min(64).max(8_192).optional(),
      }),
      defaults: { enable: true, model_response_mode: 'thread', model_chain: 3, model_image_side: 1_568 },
      settings: {
        enable: server('Channels'),
        model_response_mode: server(
          'Where models answer: `thread` under the message, any other value in the main line where the message is in it',
        ),
        model_chain: server(
          'How many models may answer one after the other, each called by the one before; with 1, models call no others',
        ),
        model_image_side: server(
          'The most pixels of the long side of an image that a model in a channel gets; larger images are scaled down',
        ),
      },
    },
  },
  permissions: { sharing: { public_channels: false }, features: { channels: true } },
  grantable: 'channel',
});
