import { useHotkeys } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { trpc } from '../../api/query.ts';
import { openOverlay } from '../../base/overlay.ts';
import { isNews, type Listed } from '../../channels/list/counts.ts';
import { useMarkRead } from '../../channels/list/marks.ts';
import { inOrder, sectionsOf } from '../../channels/list/sections.ts';
import { useChannelTitle } from '../../messages/title.ts';

const hasOverlay = () =>
  document.querySelector('[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]') !== null;

/** The keys of the page. Those of the composer and of messages are theirs. */
export function useShortcuts(): void {
  const navigate = useNavigate();
  const { channelId } = useParams({ strict: false });
  const step = useChannelStep(channelId);
  const markRead = useMarkRead();
  useHotkeys(
    [
      ['mod+K', () => openOverlay({ name: 'commands' })],
      ['mod+shift+F', () => void navigate({ to: '/search' })],
      ['alt+ArrowUp', () => step(-1)],
      ['alt+ArrowDown', () => step(1)],
      ['alt+shift+ArrowUp', () => step(-1, isNews)],
      ['alt+shift+ArrowDown', () => step(1, isNews)],
    ],
    // Also while the person writes.
    [],
  );
  const showKeys = () => openOverlay({ name: 'shortcuts' });
  useHotkeys([
    ['shift+?', showKeys],
    ['?', showKeys],
  ]);
  useHotkeys(
    [
      [
        'Escape',
        (event) => {
          if (event.defaultPrevented || hasOverlay() || !channelId) return;
          markRead.mutate({ id: channelId });
        },
        { preventDefault: false },
      ],
    ],
    [],
  );
  useTypingGoesToComposer();
}

/** Leads to the next channel of the list, or to the next one that has news. */
function useChannelStep(channelId: string | undefined) {
  const navigate = useNavigate();
  const titleOf = useChannelTitle();
  const { data: channels = [] } = useQuery(trpc.channels.list.queryOptions());
  return (by: 1 | -1, isWanted: (channel: Listed) => boolean = () => true) => {
    const order = inOrder(sectionsOf(channels, titleOf));
    const here = order.findIndex(({ id }) => id === channelId);
    const start = here === -1 && by === -1 ? 0 : here;
    for (let steps = 1; steps <= order.length; steps += 1) {
      const next = order[(start + by * steps + order.length * 2) % order.length];
      if (!next || next.id === channelId || !isWanted(next)) continue;
      void navigate({ to: '/channels/$channelId', params: { channelId: next.id } });
      return;
    }
  };
}

/** Text that is typed while nothing has the focus goes into the composer. */
function useTypingGoesToComposer(): void {
  useEffect(() => {
    const onKeyDown = ({ key, ctrlKey, metaKey, altKey, target }: KeyboardEvent) => {
      if (key.length !== 1 || key === '?' || key === ' ' || ctrlKey || metaKey || altKey) return;
      if (target !== document.body && (target as Element).id !== 'content') return;
      if (!hasOverlay()) document.querySelector<HTMLElement>('textarea[data-composer]')?.focus();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, []);
}
