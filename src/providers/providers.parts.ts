import type { PartState } from '../core/readiness.ts';
import type { Parts } from '../core/scope.ts';
import type { Base } from '../noun.ts';
import { Registry } from './providers.registry.ts';

export function startProviders({ configs, egress, board, log, bus, env }: Base) {
  const offered = env.EMBEDDED_MODEL === 'off' ? null : board;
  const providers = new Registry({ configs, egress, board: offered, log });
  const stopFollowing = bus.subscribe('config.changed', () => providers.adopt());
  return {
    parts: { providers },
    close() {
      stopFollowing();
      providers.close();
    },
  };
}

/** A provider that does not answer is named; everything else goes on without it. */
export function describeProviders({ providers, board }: Parts): { providers?: PartState } {
  const states = providers.states();
  if (states.length === 0) return {};
  if (states.some(({ kind }) => kind === 'board')) {
    const { state, detail } = board.state();
    return { providers: { state: state === 'failed' ? 'degraded' : 'ok', detail } };
  }
  const dead = states.filter(({ state }) => state === 'failed').map(({ name }) => name);
  if (dead.length > 0)
    return { providers: { state: 'degraded', detail: `no answer from ${dead.join(', ')}` } };
  const isAsking = states.some(({ state }) => state === 'asking');
  return { providers: { state: 'ok', detail: isAsking ? 'are asked for their models' : 'answer' } };
}
