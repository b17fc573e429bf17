import { MASK, mapSecrets } from '../../core/secrets/masks.ts';
import type { Configuration } from './configs.schema.ts';

/** The configuration for eyes that need no secrets. */
export const maskSecrets = (configuration: Configuration): Configuration =>
  mapSecrets(configuration, () => MASK);

/**
 * Puts the stored secrets where the masks are. A secret follows the address or id that it belongs to, so entries may
 * move; it is never given to another address, which would be sent it.
 *
 * @returns the paths of masks for which nothing is stored, beside the whole tree
 */
export function restoreSecrets(
  sent: Configuration,
  stored: Configuration,
): { restored: Configuration; unknown: string[] } {
  const secrets = new Map<string, string>();
  mapSecrets(stored, (secret, { owner }) => {
    secrets.set(owner, secret);
    return secret;
  });
  const unknown: string[] = [];
  const restored = mapSecrets(sent, (secret, { path, owner }) => {
    if (secret !== MASK) return secret;
    const kept = secrets.get(owner);
    if (kept === undefined) unknown.push(path);
    return kept ?? '';
  });
  return { restored, unknown };
}
