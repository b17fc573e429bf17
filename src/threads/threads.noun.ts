import { defineNoun } from '../noun.ts';
import { threadsRouter } from './threads.router.ts';

export const threads = defineNoun({
  name: 'threads',
  routers: { threads: threadsRouter },
});
