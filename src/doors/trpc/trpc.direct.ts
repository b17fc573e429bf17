import type { ItemKind } from '../../core/subscription.ts';

/*
 * tRPC 11 takes the items of a subscription one by one, whatever a procedure returns (a generator or an observable): a race of two
 * promises with clean-up and a serialisation for each item and subscriber. That is six times the CPU of a bare socket
 * (docs/decisions/event-delivery.md), so events and notices are written here as tRPC would write them, past its loop. This
 * needs only the number of the call, which the client sent.
 */

/** The member of a subscription's input under which the decoder notes the call. Schemas drop it. */
const CALL = Symbol('call');

/** The members of a call that its answers repeat. Clients number their calls anew for each connection. */
export interface Call {
  id: unknown;
  jsonrpc: unknown;
}

interface Incoming extends Partial<Call> {
  method?: unknown;
  params?: { input?: unknown } | null;
}

/** Notes the call on the input of each subscription in a frame. */
export function noteCalls(decoded: unknown): void {
  for (const message of Array.isArray(decoded) ? decoded : [decoded]) {
    const { id, jsonrpc, method, params } = (message ?? {}) as Incoming;
    const input = params?.input;
    if (method === 'subscription' && typeof input === 'object' && input !== null)
      Object.assign(input, { [CALL]: { id, jsonrpc } });
  }
}

/** The call that an input belongs to; undefined when the input came in no frame. */
export const callOf = (input: unknown): Call | undefined =>
  typeof input === 'object' && input !== null ? (input as { [CALL]?: Call })[CALL] : undefined;

interface Item {
  readonly text: string;
}

/** The end of the message of the newest item: the same bytes for all subscribers. */
let ending: { item: Item; bytes: Buffer } | undefined;
/** The newest whole message: subscribers that follow the same streams have the same place. */
let latest: { item: Item; id: unknown; place: string | null; message: Buffer } | undefined;

function endingOf(item: Item): Buffer {
  if (ending?.item !== item) ending = { item, bytes: Buffer.from(`${item.text}}}}`) };
  return ending.bytes;
}

/**
 * The message that brings an item to a call's subscription, as UTF-8.
 *
 * @param place the cursor that the client sends back to resume; null for a notice before the first event
 */
export function messageOf({ id, jsonrpc }: Call, kind: ItemKind, item: Item, place: string | null): Buffer {
  const isLatest = latest?.item === item && latest.id === id && latest.place === place;
  if (isLatest && latest && jsonrpc === undefined) return latest.message;
  // The same text as `JSON.stringify` of tRPC's answer: the same order of members, without undefined ones.
  const head = JSON.stringify({ id, jsonrpc }).slice(0, -1);
  const at = JSON.stringify(place);
  const data = kind === 'notice' ? '"data":{"notice":' : `"data":{"id":${at},"data":`;
  const start = `${head},"result":{"type":"data",${place === null ? '' : `"id":${at},`}${data}`;
  const message = Buffer.concat([Buffer.from(start), endingOf(item)]);
  if (jsonrpc === undefined) latest = { item, id, place, message };
  return message;
}
