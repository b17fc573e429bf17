import type { Heard, HeardChannel } from '../load/journal.ts';

/** A fault that the run shows. `kind` groups equal ones. */
export interface Finding {
  kind:
    | 'lost write'
    | 'doubled write'
    | 'changed write'
    | 'gap in the log'
    | 'lost event'
    | 'doubled event'
    | 'event out of order'
    | 'other event'
    | 'forbidden event'
    | 'reload'
    | 'ended subscription'
    | 'unfinished reply'
    | 'ended process'
    | 'odd answer'
    | 'trend';
  detail: string;
}

/** The events of a channel as the log says: `marks[n]` is that of event `first + n`. */
export interface ChannelLog {
  channelId: string;
  first: number;
  marks: number[];
}

/** Where the events of a person in a channel must begin and end. */
export interface Expected {
  /** The number before the first expected event. */
  after: number;
  /** All events from there to the end of the log; false for guests, who may miss those of times without the right. */
  isWhole: boolean;
}

/** Finds gaps of a log that was read event by event. */
export function findGaps(channelId: string, ids: readonly number[]): Finding[] {
  return ids.flatMap((id, index): Finding[] => {
    const before = index === 0 ? 0 : (ids[index - 1] ?? 0);
    const detail = `channel ${channelId}: event ${id} follows ${before}`;
    return id === before + 1 ? [] : [{ kind: 'gap in the log', detail }];
  });
}

/** Compares the events that a person received of one channel with the log: each once, in order, and the same. */
export function compareWithLog(
  who: string,
  heard: HeardChannel,
  log: ChannelLog,
  { after, isWhole }: Expected,
): Finding[] {
  const findings: Finding[] = [];
  const find = (kind: Finding['kind'], words: string) =>
    findings.push({ kind, detail: `${who}, channel ${log.channelId}: ${words}` });
  const last = log.first + log.marks.length - 1;
  const seen = new Set<number>();
  let before = after;
  for (const [index, id] of heard.ids.entries()) {
    if (seen.has(id)) find('doubled event', `event ${id} came again after ${before}`);
    else if (id < before) find('event out of order', `event ${id} came after ${before}`);
    else if (id !== before + 1 && isWhole) find('lost event', `event ${id} came after ${before}`);
    if (heard.marks[index] !== log.marks[id - log.first])
      find('other event', `event ${id} is not that of the log`);
    seen.add(id);
    before = Math.max(before, id);
  }
  // The end is expected of guests, too: all have the right again.
  if (before < last) find('lost event', `the last event is ${before}, that of the log ${last}`);
  return findings;
}

/** What the connection itself reported. */
export function findFailures({ personId, door, reloads, failures }: Heard): Finding[] {
  const who = `${personId} over ${door}`;
  return [
    ...reloads.map((id): Finding => ({ kind: 'reload', detail: `${who}, channel ${id}` })),
    ...failures.map((reason): Finding => ({ kind: 'ended subscription', detail: `${who}: ${reason}` })),
  ];
}
