import { type Encoder, jsonEncoder } from '@trpc/server/adapters/ws';
import { checkJsonText } from '../../core/json/incoming.ts';
import { noteCalls } from './trpc.direct.ts';
import { putTexts, takeTexts } from './trpc.texts.ts';

/** JSON like tRPC's own encoder. JSON texts in answers are not parsed and written again, and subscriptions know their number. */
export const textEncoder: Encoder = {
  encode(message) {
    const texts = takeTexts([message]);
    return putTexts(JSON.stringify(message), texts);
  },
  decode(data) {
    if (typeof data === 'string') checkJsonText(data);
    const decoded = jsonEncoder.decode(data);
    noteCalls(decoded);
    return decoded;
  },
};
