import { defineNoun } from '../noun.ts';
import { errors } from './search.errors.ts';
import { searchRouter } from './search.router.ts';

export const search = defineNoun({
  name: 'search',
  errors,
  routers: { search: searchRouter },
});
