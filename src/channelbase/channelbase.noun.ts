import { defineNoun } from '../noun.ts';
import { passOnChannels } from './channels.deletion.repository.ts';
import { Channel } from './channels.entity.ts';
import { errors } from './channels.errors.ts';

/**
 * The row of a channel, who may do what in it, and the log of its changes. Members, messages and reads use
 * this noun; `channels` uses all of them.
 */
export const channelbase = defineNoun({
  name: 'channelbase',
  errors,
  entities: [Channel],
  onAccountDeleted: passOnChannels,
});
