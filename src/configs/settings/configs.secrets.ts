import { MASK, mapSecrets } from '../../core/secrets/masks.ts';
import type { Configuration } from './configs.schema.ts';

/** The configuration with its secrets masked. */
export const maskSecrets = (configuration: Configuration): Configuration =>
  mapSecrets(configuration, () => MASK);

/**
 * Replaces masks by the stored secrets. A secret belongs to its address or id, so entries may move. It is never joined to another
 * address: this server would send the secret there.
 *
 * @returns the whole tree, and the paths of masks for which no secret is stored
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
