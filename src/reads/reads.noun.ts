import { defineNoun } from '../noun.ts';
import { ChannelReader } from './reads.entity.ts';
import { readersRouter } from './reads.router.ts';

export const reads = defineNoun({
  name: 'reads',
  routers: { readers: readersRouter },
  entities: [ChannelReader],
  onAccountDeleted: 'foreign keys decide',
});
