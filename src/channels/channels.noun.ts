import { grantableChannels } from '../channelbase/channels.policy.ts';
import { defineNoun } from '../noun.ts';
import { startChannels } from './channels.parts.ts';
import { channelsRouter } from './channels.router.ts';
import { ChannelEvent } from './events/events.entity.ts';
import { channelStreams } from './events/events.kind.ts';

export const channels = defineNoun({
  name: 'channels',
  routers: { channels: channelsRouter },
  entities: [ChannelEvent],
  streams: channelStreams,
  start: startChannels,
  grantable: grantableChannels,
});
