import { type TrackedEnvelope, tracked } from '@trpc/server';
import type { Item } from '../subscription.ts';
import { translated } from './trpc.errors.ts';

/**
 * The items of a subscription as tRPC sends them: events as `{id, data}`; notices as `{notice}`, which do not
 * move the resume position of a client. Failures reach the client as for any procedure, although no
 * middleware applies inside a generator.
 */
export function trackItems<Event>(
  source: AsyncIterable<{ id: string; event: Event }>,
): AsyncGenerator<TrackedEnvelope<Event>>;
export function trackItems<Event, Notice>(
  source: AsyncIterable<Item<Event, Notice>>,
): AsyncGenerator<TrackedEnvelope<Event> | { notice: Notice }>;
export async function* trackItems(source: AsyncIterable<Item<unknown, unknown>>) {
  try {
    for await (const item of source) yield 'id' in item ? tracked(item.id, item.event) : item;
  } catch (error) {
    throw translated(error);
  }
}
