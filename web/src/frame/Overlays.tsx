import { useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useEffect } from 'react';
import { closeOverlay, useOverlay } from '../base/overlay.ts';

const ChannelDetails = lazy(() => import('../channels/details/ChannelDetails.tsx'));
const NewChannel = lazy(() => import('../channels/create/NewChannel.tsx'));
const HiddenChannels = lazy(() => import('../channels/create/HiddenChannels.tsx'));
const Commands = lazy(() => import('./commands/Commands.tsx'));
const Shortcuts = lazy(() => import('./commands/Shortcuts.tsx'));

/** Shows what `openOverlay` opened. Each loads when it is first needed. */
export function Overlays() {
  const overlay = useOverlay();
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another view closes what stood over the last one
  useEffect(closeOverlay, [pathname]);
  return (
    <Suspense>
      {overlay?.name === 'details' && (
        <ChannelDetails
          key={`${overlay.channelId} ${overlay.tab}`}
          channelId={overlay.channelId}
          tab={overlay.tab}
        />
      )}
      {overlay?.name === 'newChannel' && <NewChannel kind={overlay.kind} onClose={closeOverlay} />}
      {overlay?.name === 'hiddenChannels' && <HiddenChannels onClose={closeOverlay} />}
      {overlay?.name === 'commands' && <Commands onClose={closeOverlay} />}
      {overlay?.name === 'shortcuts' && <Shortcuts onClose={closeOverlay} />}
    </Suspense>
  );
}
