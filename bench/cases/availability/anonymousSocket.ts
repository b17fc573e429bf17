import { floodSocket } from '../../load/flood.ts';
import type { Attack } from '../../support/attack.ts';

/** A tRPC socket without credentials sends calls and awaits no answers; each is refused. */
export const anonymousSocket: Attack = {
  what: 'an anonymous tRPC socket, pipelined',
  targets: { health: 150, others: 150 },
  attack: ({ url }) =>
    floodSocket(`${url.replace('http', 'ws')}/trpc`, {}, (id) =>
      JSON.stringify({ id, method: 'query', params: { path: 'auths.whoAmI' } }),
    ),
};
