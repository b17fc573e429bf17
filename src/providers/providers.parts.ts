import type { PartState } from '../core/readiness.ts';
import type { Parts } from '../core/scope.ts';
import type { Base } from '../noun.ts';
import { Registry } from './providers.registry.ts';

export function startProviders({ configs, egress, log, bus }: Base) {
  const providers = new Registry({ configs, egress, log });
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
export function describeProviders({ providers }: Parts): { providers?: PartState } {
  const states = providers.states();
  if (states.length === 0) return {};
  const dead = states.filter(({ state }) => state === 'failed').map(({ name }) => name);
  if (dead.length > 0)
    return { providers: { state: 'degraded', detail: `no answer from ${dead.join(', ')}` } };
  const isAsking = states.some(({ state }) => state === 'asking');
  return { providers: { state: 'ok', detail: isAsking ? 'are asked for their models' : 'answer' } };
}
