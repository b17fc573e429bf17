import { type Encoder, jsonEncoder } from '@trpc/server/adapters/ws';
import { checkJsonText } from '../../core/incoming.ts';
import { Json } from '../../core/json.ts';
import { type CallId, DirectLine } from '../../core/subscription.ts';
import { putTexts, takeTexts } from './trpc.texts.ts';

/** What tRPC sends with an event of a subscription; only `id` and the place differ between those who hear the same event. */
interface Delivery {
  id: CallId;
  result: { type: 'data'; id: string; data: { id: string; data: object } };
}

interface Opening {
  id: CallId;
  result: { data: DirectLine };
}

const endings = new WeakMap<object, Buffer>();

/** The end of each frame that carries an event, written once however many hear it. Events are never changed. */
function endingOf(event: object): Buffer {
  const known = endings.get(event);
  if (known) return known;
  const ending = Buffer.from(`${event instanceof Json ? event.text : JSON.stringify(event)}}}}`);
  endings.set(event, ending);
  return ending;
}

/** Whoever follows the same channels stands at the same place: then one frame is for all of them. */
let latest: { event: object; call: CallId; place: string; frame: Buffer<ArrayBuffer> } | undefined;

/**
 * The WebSocket frame, head included, that tells a call's subscription of an event.
 *
 * @param place what the client hands back to go on behind the event
 */
export function frameOf(call: CallId, place: string, event: object): Buffer<ArrayBuffer> {
  if (latest?.event === event && latest.call === call && latest.place === place) return latest.frame;
  const id = JSON.stringify(place);
  const start = `{"id":${JSON.stringify(call)},"result":{"type":"data","id":${id},"data":{"id":${id},"data":`;
  const frame = frameText(start, endingOf(event));
  latest = { event, call, place, frame };
  return frame;
}

const FINAL_TEXT = 0x81;

/** One whole text frame of a server, by RFC 6455, section 5.2. */
function frameText(start: string, ending: Buffer): Buffer<ArrayBuffer> {
  const startBytes = Buffer.byteLength(start);
  const length = startBytes + ending.length;
  const headBytes = length < 126 ? 2 : length < 2 ** 16 ? 4 : 10;
  const frame = Buffer.allocUnsafe(headBytes + length);
  frame[0] = FINAL_TEXT;
  if (headBytes === 2) frame[1] = length;
  else if (headBytes === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  frame.write(start, headBytes);
  ending.copy(frame, headBytes + startBytes);
  return frame;
}

function isOpening(message: unknown): message is Opening {
  return (message as { result?: { data?: unknown } }).result?.data instanceof DirectLine;
}

function isDelivery(message: unknown): message is Delivery {
  const { jsonrpc, result } = message as { jsonrpc?: string; result?: Partial<Delivery['result']> };
  return jsonrpc === undefined && typeof result?.id === 'string' && typeof result.data?.data === 'object';
}

const NOTHING = Buffer.alloc(0);

/**
 * JSON like tRPC's own encoder, but one event to a thousand subscribers is not serialised a thousand times. Its bytes are whole
 * frames, for a socket that sends them as they are; texts are still to be framed.
 */
export const sharingEncoder: Encoder = {
  encode(message) {
    if (isOpening(message)) {
      message.result.data.open(message.id);
      return NOTHING;
    }
    if (!isDelivery(message)) {
      const texts = takeTexts([message]);
      return putTexts(JSON.stringify(message), texts);
    }
    return frameOf(message.id, message.result.id, message.result.data.data);
  },
  decode(data) {
    if (typeof data === 'string') checkJsonText(data);
    return jsonEncoder.decode(data);
  },
};
