import { useChannelsLive } from '../channels/list/useChannelsLive.ts';
import { useShortcuts } from './commands/useShortcuts.ts';
import { useNotifications } from './notifications.ts';
import { Overlays } from './Overlays.tsx';

/** What goes on beside each view: the counts of the list, notifications, keys, and what opens over the page. */
export function Attendance() {
  useChannelsLive();
  useNotifications();
  useShortcuts();
  return <Overlays />;
}
