import { defineNoun } from '../noun.ts';
import { MessageMention } from './mentions.entity.ts';

export const mentions = defineNoun({
  name: 'mentions',
  entities: [MessageMention],
  onAccountDeleted: 'foreign keys decide',
});
