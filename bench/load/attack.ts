import { setPriority } from 'node:os';
import { ATTACKS } from '../cases/availability/attacks.ts';
import type { AttackTarget } from '../support/attack.ts';
import { childOptions, ready } from '../support/childSide.ts';

const { name, target } = childOptions<{ name: string; target: AttackTarget }>();
// The client that measures runs on the same core and must not wait for this process.
setPriority(19);
// Connections that the server cuts are part of the attack.
process.on('uncaughtException', (error) => console.error(`${name}: ${error.message}`));
await ATTACKS[name]?.attack(target);
ready('under way');
