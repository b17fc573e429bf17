import { defineNoun } from '../noun.ts';
import { MessageReaction } from './reactions.entity.ts';
import { reactionsRouter } from './reactions.router.ts';

export const reactions = defineNoun({
  name: 'reactions',
  routers: { reactions: reactionsRouter },
  entities: [MessageReaction],
  onAccountDeleted: 'foreign keys decide',
});
