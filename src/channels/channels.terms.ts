import { z } from 'zod';
import { defineTerms, server } from '../core/terms.ts';

export const terms = defineTerms({
  sections: {
    channels: {
      schema: z.looseObject({ enable: z.boolean() }),
      defaults: { enable: true },
      settings: { enable: server('Channels') },
    },
  },
  permissions: { sharing: { public_channels: false }, features: { channels: true } },
  grantable: 'channel',
});
