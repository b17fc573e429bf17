import { AppError } from '../core/errors.ts';
import type { Base } from '../noun.ts';
import type { Providers } from './providers.types.ts';

export function startProviders(_base: Base) {
  const providers: Providers = {
    models: () => [],
    model: () => undefined,
    chat: () => Promise.reject(new AppError('model_not_found')),
    embed: () => Promise.reject(new AppError('model_not_found')),
  };
  return { parts: { providers } };
}
