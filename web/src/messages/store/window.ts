import type { Message } from '@parley/client';

/** Where a list opens: at a message, or at the end. */
export interface Target {
  messageId: string | null;
  /** True: the message stands out for a moment, and in the middle. */
  isJump: boolean;
}

/** The part of a channel that the page holds. Replaced at each change of its order, never changed. */
export interface Window {
  /** Changes when the list goes to another part of the channel. */
  id: number;
  /** The oldest first. */
  ids: readonly string[];
  hasOlder: boolean;
  hasNewer: boolean;
  status: 'loading' | 'ready' | 'failed';
  error: unknown;
  target: Target;
  /** How many messages of others came since the channel was opened. */
  arrived: number;
  /** The line "new" stands before the first message of others after this time; nanoseconds. */
  unreadAfter: number | null;
}

export const EMPTY: Window = {
  id: 0,
  ids: [],
  hasOlder: true,
  hasNewer: false,
  status: 'loading',
  error: null,
  target: { messageId: null, isJump: false },
  arrived: 0,
  unreadAfter: null,
};

/** The ids with one more message at its place, which is nearly always the end. */
export function inserted(
  ids: readonly string[],
  message: Message,
  timeOf: (id: string) => number,
): readonly string[] {
  let place = ids.length;
  while (place > 0 && timeOf(ids[place - 1] ?? '') > message.created_at) place--;
  return [...ids.slice(0, place), message.id, ...ids.slice(place)];
}
