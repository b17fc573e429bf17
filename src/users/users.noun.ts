import { defineNoun } from '../noun.ts';
import { peopleRouter } from './people.router.ts';
import { profileRouter } from './profile.router.ts';
import { User } from './users.entity.ts';
import { errors } from './users.errors.ts';
import { keepAccounts } from './users.kept.ts';
import { usersRouter } from './users.router.ts';
import { variablesRouter } from './variables.router.ts';

export const users = defineNoun({
  name: 'users',
  errors,
  routers: {
    users: usersRouter,
    people: peopleRouter,
    profile: profileRouter,
    userVariables: variablesRouter,
  },
  entities: [User],
  start({ bus }) {
    const kept = keepAccounts(bus);
    return { parts: { keptAccounts: kept.accounts }, close: async () => kept.close() };
  },
});
