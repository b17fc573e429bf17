import type { Message } from '@parley/client';
import { authorOf } from '../author.ts';
import type { Entry } from '../outbox/entry.ts';
import type { MessageStore } from '../store/store.ts';
import type { Window } from '../store/window.ts';

/** A row of the list. Lines between days and above the unread messages belong to the row below them. */
export interface Row {
  key: string;
  /** Of a stored message; a waiting one has its entry. */
  id: string | null;
  entry: Entry | null;
  /** The day that begins here: nanoseconds. */
  day: number | null;
  isFirstUnread: boolean;
  /** The first of consecutive messages of one author: it shows the name. */
  isFirst: boolean;
  /** The first message of the channel or thread. */
  isStart: boolean;
}

/** A longer pause begins a new group. */
const GROUP_NS = 5 * 60 * 1e9;

const nextDay = (ns: number) => new Date(ns / 1e6).setHours(24, 0, 0, 0) * 1e6;

interface Place {
  author: string;
  at: number;
  isQuote: boolean;
}

const placeOf = (message: Message): Place => ({
  author: message.meta.deleted === true ? message.id : authorOf(message).key,
  at: message.created_at,
  isQuote: message.reply_to_id !== null,
});

export function rowsOf(
  store: MessageStore,
  { ids, hasOlder, hasNewer, unreadAfter }: Window,
  entries: readonly Entry[],
): Row[] {
  const rows: Row[] = [];
  const { me } = store.options;
  let previous: Place | null = null;
  let dayEnd = 0;
  let isUnreadMarked = false;
  const add = (place: Place, rest: Pick<Row, 'key' | 'id' | 'entry'>, isFirstUnread: boolean) => {
    // Whether the first row that is loaded begins a day is known when the row above it is loaded.
    const isLater = place.at >= dayEnd;
    const isDay = previous ? isLater : !hasOlder;
    if (isLater) dayEnd = nextDay(place.at);
    const isFirst =
      !previous ||
      isDay ||
      isFirstUnread ||
      place.isQuote ||
      previous.author !== place.author ||
      place.at - previous.at > GROUP_NS;
    const isStart = !previous && !hasOlder;
    rows.push({ ...rest, day: isDay ? place.at : null, isFirstUnread, isFirst, isStart });
    previous = place;
  };
  for (const id of ids) {
    const message = store.get(id);
    if (!message) continue;
    const isUnread: boolean =
      unreadAfter !== null &&
      !isUnreadMarked &&
      message.created_at > unreadAfter &&
      message.user_id !== me.id &&
      (previous !== null || !hasOlder);
    isUnreadMarked ||= isUnread;
    add(placeOf(message), { key: store.keyOf(id), id, entry: null }, isUnread);
  }
  // The end is elsewhere: waiting messages stand there.
  if (hasNewer) return rows;
  for (const entry of entries) {
    const place = { author: me.id, at: entry.createdAt * 1e6, isQuote: entry.replyToId !== null };
    add(place, { key: entry.tempId, id: null, entry }, false);
  }
  return rows;
}
