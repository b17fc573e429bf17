import type { Draft } from '../../composer/types.ts';

/** A post that waits for the server, or that the server refused. */
export interface Entry extends Draft {
  tempId: string;
  channelId: string;
  threadId: string | null;
  /** Milliseconds. */
  createdAt: number;
  /** The server's sentence; null while the message waits or is sent. */
  error: string | null;
}
