/** What clients know of their writes. Times are Unix milliseconds of this machine. */

export interface PostEntry {
  channelId: string;
  personId: string;
  tempId: string;
  content: string;
  beganMs: number;
  /** When the answer came; null while it has not. */
  ackMs: number | null;
  attempts: number;
  /** The id in the answer. */
  id: string | null;
  /** The status of a final refusal. */
  refused: number | null;
}

export interface EditEntry {
  channelId: string;
  messageId: string;
  content: string;
  isAcked: boolean;
}

export interface ReactionEntry {
  channelId: string;
  messageId: string;
  personId: string;
  name: string;
  isAcked: boolean;
}

export interface UploadEntry {
  id: string;
  personId: string;
  sha256: string;
}

/** The events that one person received of one channel, in the order of their arrival. */
export interface HeardChannel {
  channelId: string;
  /** Event numbers. */
  ids: number[];
  /** A number for type and message of each event, the same for equal events. */
  marks: number[];
  /** When each arrived; only for channels whose right may be missing. */
  atMs: number[];
}

export interface Heard {
  personId: string;
  door: 'trpc' | 'socketio';
  channels: HeardChannel[];
  /** Channels of a `reload`: events were no longer there. */
  reloads: string[];
  /** Errors that ended a subscription, without those of a sign-out. */
  failures: string[];
  /** How often it was connected. */
  connections: number;
}

/** All that the clients of one worker know. */
export interface Journal {
  posts: PostEntry[];
  edits: EditEntry[];
  reactions: ReactionEntry[];
  uploads: UploadEntry[];
  /** The present token of each person. */
  tokens: Record<string, string>;
  heard: Heard[];
  /** `action status`: how often it was answered so. */
  answers: Record<string, number>;
  /** Answers that no fault explains: wrong results, wrong refusals. */
  oddities: string[];
}

/** One number for the type and message of an event (FNV-1a). */
export function markOf(type: string, messageId: string | null): number {
  let hash = 0x811c9dc5;
  for (const character of `${type} ${messageId}`)
    hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
  return hash >>> 0;
}
