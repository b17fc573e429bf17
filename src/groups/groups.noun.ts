import { defineNoun } from '../noun.ts';
import { Group, GroupAncestor, GroupMember } from './groups.entity.ts';
import { groupsRouter } from './groups.router.ts';

export const groups = defineNoun({
  name: 'groups',
  routers: { groups: groupsRouter },
  entities: [Group, GroupAncestor, GroupMember],
  onAccountDeleted: 'foreign keys decide',
});
