import { defineNoun } from '../core/noun.ts';
import { searchRouter } from './search.router.ts';

export const search = defineNoun({
  name: 'search',
  routers: { search: searchRouter },
});
