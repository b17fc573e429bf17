/*
 * tRPC 11 takes the items of a subscription one by one, whatever a procedure returns (a generator or an observable): a race of two
 * promises with clean-up and a serialisation for each item and subscriber. That is six times the CPU of a bare socket
 * (docs/decisions/event-delivery.md), so events and notices are written here as tRPC would write them, past its loop. The
 * only thing that it takes to know is the number of the call, which the client sent.
 */

/** The member of a subscription's input under which the decoder notes the call. Schemas drop it. */
const CALL = Symbol('call');

/** What an answer repeats of its call. Clients number their calls, for each connection anew. */
export interface Call {
  id: unknown;
  jsonrpc: unknown;
}

interface Incoming extends Partial<Call> {
  method?: unknown;
  params?: { input?: unknown } | null;
}

/** Notes on the input of each subscription among the messages of a frame which call it is. */
export function noteCalls(decoded: unknown): void {
  for (const message of Array.isArray(decoded) ? decoded : [decoded]) {
    const { id, jsonrpc, method, params } = (message ?? {}) as Incoming;
    const input = params?.input;
    if (method === 'subscription' && typeof input === 'object' && input !== null)
      Object.assign(input, { [CALL]: { id, jsonrpc } });
  }
}

/** The number of the call whose input this is; undefined for what no frame brought. */
export const callOf = (input: unknown): Call | undefined =>
  typeof input === 'object' && input !== null ? (input as { [CALL]?: Call })[CALL] : undefined;

interface Item {
  readonly text: string;
}

/** The end of the newest item's message: the same bytes for all who get it. */
let ending: { item: Item; bytes: Buffer } | undefined;
/** The newest message whole: subscribers that follow the same streams stand at the same place. */
let latest: { item: Item; id: unknown; place: string | null; message: Buffer } | undefined;

function endingOf(item: Item): Buffer {
  if (ending?.item !== item) ending = { item, bytes: Buffer.from(`${item.text}}}}`) };
  return ending.bytes;
}

/**
 * The message that brings an item to a call's subscription, as UTF-8.
 *
 * @param place what the client hands back to go on behind an event; null for a notice
 */
export function messageOf({ id, jsonrpc }: Call, place: string | null, item: Item): Buffer {
  const isLatest = latest?.item === item && latest.id === id && latest.place === place;
  if (isLatest && latest && jsonrpc === undefined) return latest.message;
  // Written like `JSON.stringify` of tRPC's own answer: the members in its order, without those that are undefined.
  const head = JSON.stringify({ id, jsonrpc }).slice(0, -1);
  const at = JSON.stringify(place);
  const data = place === null ? '"data":{"notice":' : `"id":${at},"data":{"id":${at},"data":`;
  const message = Buffer.concat([Buffer.from(`${head},"result":{"type":"data",${data}`), endingOf(item)]);
  if (jsonrpc === undefined) latest = { item, id, place, message };
  return message;
}
