import { defineNoun } from '../noun.ts';
import { connectionsRouter } from './connections.router.ts';
import { errors } from './providers.errors.ts';
import { measureProviders } from './providers.metrics.ts';
import { describeProviders, startProviders } from './providers.parts.ts';
import { providersRouter } from './providers.router.ts';

/** The connections to model providers. They stand in the configuration, so this noun has no table. */
export const providers = defineNoun({
  name: 'providers',
  errors,
  routers: { providers: providersRouter, connections: connectionsRouter },
  start: startProviders,
  metrics: measureProviders,
  readiness: describeProviders,
});
