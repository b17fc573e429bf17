import { type Encoder, jsonEncoder } from '@trpc/server/adapters/ws';

/** What tRPC sends with an event of a subscription; only `id` and the place differ between those who hear the same event. */
interface Delivery {
  id: number | string;
  result: { type: 'data'; id: string; data: { id: string; data: object } };
}

const texts = new WeakMap<object, string>();

/** The JSON of an event, written once however many hear it. Events are never changed. */
function textOf(event: object): string {
  const known = texts.get(event);
  if (known !== undefined) return known;
  const text = JSON.stringify(event);
  texts.set(event, text);
  return text;
}

function isDelivery(message: unknown): message is Delivery {
  const { jsonrpc, result } = message as { jsonrpc?: string; result?: Partial<Delivery['result']> };
  return jsonrpc === undefined && typeof result?.id === 'string' && typeof result.data?.data === 'object';
}

/** JSON like tRPC's own encoder, but one event to a thousand subscribers is not serialised a thousand times. */
export const sharingEncoder: Encoder = {
  encode(message) {
    if (!isDelivery(message)) return jsonEncoder.encode(message);
    const place = JSON.stringify(message.result.id);
    const event = textOf(message.result.data.data);
    const id = JSON.stringify(message.id);
    return `{"id":${id},"result":{"type":"data","id":${place},"data":{"id":${place},"data":${event}}}}`;
  },
  decode: jsonEncoder.decode,
};
