import { type KeyboardEvent, type RefObject, useEffect, useRef } from 'react';
import type { VirtualizerHandle } from 'virtua';
import type { Row } from './rows.ts';

const STEPS: Record<string, number> = { ArrowUp: -1, ArrowDown: 1, PageUp: -8, PageDown: 8 };

/** Arrow keys go from message to message; only one message is in the order of the Tab key. */
export function useFocusedRow(
  rows: readonly Row[],
  list: RefObject<VirtualizerHandle | null>,
  scroller: RefObject<HTMLElement | null>,
  activeId: string | null,
  setActive: (id: string) => void,
) {
  const wanted = useRef<string | null>(null);
  useEffect(() => {
    if (!activeId || wanted.current !== activeId) return;
    wanted.current = null;
    scroller.current
      ?.querySelector<HTMLElement>(`[data-message="${activeId}"]`)
      ?.focus({ preventScroll: true });
  }, [activeId, scroller]);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const step = STEPS[event.key];
    const from = event.target instanceof HTMLElement ? event.target.dataset.message : undefined;
    if (!step || !from || event.altKey || event.ctrlKey || event.metaKey) return;
    const index = rows.findIndex(({ id }) => id === from) + step;
    const next = Math.max(0, Math.min(rows.length - 1, index));
    const id = rows[next]?.id;
    if (!id) return;
    event.preventDefault();
    wanted.current = id;
    list.current?.scrollToIndex(next, { align: 'nearest' });
    setActive(id);
  };
  return onKeyDown;
}
