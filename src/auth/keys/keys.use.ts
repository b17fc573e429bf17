import type { ConfigStore } from '../../configs/configs.store.ts';
import { may } from '../../configs/settings/permissions.ts';
import type { Reach } from '../../core/access.ts';
import { AppError } from '../../core/errors.ts';
import type { Actor } from '../../core/scope.ts';
import { requireReach } from './keys.reach.ts';

/**
 * Refuses an API key that may not be used, or not for these paths. Checked on every call: the configuration
 * may have changed since the key was verified.
 *
 * @param endpoints the key's own list, null if it has none
 * @param reach null if the paths are not known yet
 * @throws api_key_forbidden, endpoint_forbidden
 */
export function requireKeyUse(
  configs: ConfigStore,
  actor: Actor,
  endpoints: readonly (readonly string[])[] | null,
  reach: (() => Reach | Promise<Reach>) | null,
): void | Promise<void> {
  const { auth } = configs.current;
  if (!auth.enable_api_keys || !may({ configs, actor }, 'features.api_keys')) {
    throw new AppError('api_key_forbidden');
  }
  return reach ? requireReach(auth.api_key, endpoints, reach) : undefined;
}
