import { defineConfig } from 'vitest/config';
import whole from './vitest.config.ts';

/** The tests of `npm run test:fast`: contracts, doors, and nouns that need no Python and no second process. */
export default defineConfig({
  test: {
    ...whole.test,
    include: [
      'test/contract/*.test.ts',
      'test/docs/{errors,events}.test.ts',
      'test/doors/{docs,http,incoming,rest,trpc,words}.test.ts',
      'test/egress/addresses.test.ts',
      'test/auth/{credentials,input,keys.sweep,methods,passwords,roles,signin}.test.ts',
      'test/access/{explain,permissions,preview,rights.sweep}.test.ts',
      'test/channels/{direct,plans}.test.ts',
      'test/groups/{groups,rights,sync}.test.ts',
      'test/users/{people,profile,settings,users}.test.ts',
      'test/files/{access,content}.test.ts',
      'test/tools/golden.rules.test.ts',
    ],
  },
});
