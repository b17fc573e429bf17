import { type Encoder, jsonEncoder } from '@trpc/server/adapters/ws';
import { checkJsonText } from '../../core/json/incoming.ts';
import { noteCalls } from './trpc.direct.ts';
import { putTexts, takeTexts } from './trpc.texts.ts';

/** JSON as of tRPC's own encoder, but JSON texts in answers are not parsed and written again, and calls are noted on inputs. */
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
