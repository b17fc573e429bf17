import { defineNoun } from '../noun.ts';
import { ChannelMember } from './members.entity.ts';
import { membersRouter } from './members.router.ts';
import { withdrawEverywhere } from './members.service.ts';

export const members = defineNoun({
  name: 'members',
  routers: { members: membersRouter },
  entities: [ChannelMember],
  onAccountDeleted: async (scope, tx, { deleted }) => ({
    publish: await withdrawEverywhere(scope, tx, deleted),
  }),
});
