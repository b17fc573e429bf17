import { clients, kept, type Section, type Setting } from '../../core/terms.ts';
import { sections } from './configs.sections.ts';

/** By dotted paths. `docs/configuration.md` is made from this. */
const SETTINGS = new Map(
  Object.entries<Section>(sections).flatMap(([name, { settings }]) =>
    Object.entries(settings).map(([path, setting]) => [path === '' ? name : `${name}.${path}`, setting]),
  ),
);

const PERMISSIONS = 'user.permissions.';

/** What a setting is for; members that the service does not know are kept for others. */
export function describeSetting(path: string): Setting {
  const known = SETTINGS.get(path);
  if (known) return known;
  if (path.startsWith(PERMISSIONS)) return clients(`The permission ${path.slice(PERMISSIONS.length)}`);
  return kept('Not known to this service');
}
