import { defineNoun } from '../noun.ts';
import { passOnChannels } from './channels.deletion.repository.ts';
import { Channel } from './channels.entity.ts';
import { errors } from './channels.errors.ts';
import { startChannels } from './channels.parts.ts';
import { grantableChannels } from './channels.policy.ts';
import { channelsRouter } from './channels.router.ts';
import { ChannelEvent } from './events/events.entity.ts';
import { channelStreams } from './events/events.kind.ts';

export const channels = defineNoun({
  name: 'channels',
  errors,
  routers: { channels: channelsRouter },
  entities: [Channel, ChannelEvent],
  streams: channelStreams,
  start: startChannels,
  onAccountDeleted: passOnChannels,
  grantable: grantableChannels,
});
