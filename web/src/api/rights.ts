import { useEffect, useRef } from 'react';
import { useLive, useLiveState } from './live.ts';
import { queryClient, trpc } from './query.ts';

/** Asks again for what depends on the rights of the person. */
function askAgain(): void {
  const paths = [
    trpc.auths.whoAmI,
    trpc.configs.client,
    trpc.channels,
    trpc.tools,
    trpc.models,
    trpc.modelWorkspace,
  ];
  for (const path of paths) void queryClient.invalidateQueries(path.pathFilter());
}

/** Follows changes of the person's rights while the page is open. Used once, by the shell. */
export function useRightsLive(): void {
  useLive({ onNotice: ({ data }) => data.type === 'access:updated' && askAgain() });
  // Notices are lost with a connection.
  const { state } = useLiveState();
  const wasLive = useRef(false);
  useEffect(() => {
    if (state !== 'live') return;
    if (wasLive.current) askAgain();
    wasLive.current = true;
  }, [state]);
}
