import type { Attack } from '../../support/attack.ts';
import { anonymousSocket } from './anonymousSocket.ts';
import { fourSockets } from './fourSockets.ts';
import { newNames } from './newNames.ts';
import { wideResults } from './wideResults.ts';

/** Every attack of `--only=availability` by name: each is exported by a file of this folder. */
export const ATTACKS: Record<string, Attack> = {
  anonymousSocket,
  fourSockets,
  wideResults,
  newNames,
};
