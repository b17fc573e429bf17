import { useSyncExternalStore } from 'react';

export type DetailsTab = 'about' | 'members' | 'pins' | 'files' | 'webhooks';

/** What is shown over the page and can be opened from anywhere: the list, the head of a channel, the commands, a key. */
export type Overlay =
  | { name: 'details'; channelId: string; tab: DetailsTab }
  | { name: 'newChannel'; kind: 'boards' | 'groups' | 'direct' }
  | { name: 'hiddenChannels' }
  | { name: 'commands' }
  | { name: 'shortcuts' };

let current: Overlay | null = null;
const listeners = new Set<() => void>();

/** One at a time: another one takes the place of the first. */
export function openOverlay(overlay: Overlay | null): void {
  current = overlay;
  for (const listener of listeners) listener();
}

export const closeOverlay = (): void => openOverlay(null);

export const openDetails = (channelId: string, tab: DetailsTab = 'about'): void =>
  openOverlay({ name: 'details', channelId, tab });

export const useOverlay = (): Overlay | null =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
