import type { Channel } from '@parley/client';

/** The buttons in the head of a channel: search, pins, threads, members, settings. */
export function ChannelActions(_properties: { channel: Channel }) {
  return null;
}
