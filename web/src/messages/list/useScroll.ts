import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { VirtualizerHandle } from 'virtua';
import { usePane } from '../pane.ts';
import type { Window } from '../store/window.ts';
import type { Row } from './rows.ts';

/** The list reads on when fewer pixels are left. */
const AHEAD_PX = 1600;
const AT_END_PX = 32;
const AWAY_PX = 400;
/** Above the first unread message, some of what was read stays in view. */
const LEAD_PX = -72;
const MARK_MS = 2500;
/** Rows that are measured late no longer move a list that has been open for so long. */
const SETTLED_MS = 5000;
/** What a person does to move the list. */
const MOVES = ['wheel', 'touchstart', 'pointerdown', 'keydown', 'focusin'] as const;
/** What a person does to go on, also at an edge of the list. */
const ONWARD = ['wheel', 'touchmove', 'keydown'] as const;

/** True while rows change at the start of the list alone, so that the rows in view keep their place. */
export function useIsShift(rows: readonly Row[]): boolean {
  const before = useRef<readonly Row[]>([]);
  const previous = before.current;
  useLayoutEffect(() => {
    before.current = rows;
  }, [rows]);
  return (
    previous.length !== rows.length &&
    previous.at(-1)?.key === rows.at(-1)?.key &&
    previous[0]?.key !== rows[0]?.key
  );
}

interface Scroll {
  list: RefObject<VirtualizerHandle | null>;
  scroller: RefObject<HTMLDivElement | null>;
  onScroll(offset: number): void;
  onResize(): void;
  /** Messages of others that came below the view. */
  newCount: number;
  /** The end is far below the view. */
  isAway: boolean;
  /** The message that stands out after a jump. */
  markedId: string | null;
  toEnd(): void;
}

/** Where the list stands: follows the end, holds its place above it, opens at the target, and reads on at its edges. */
export function useScroll(rows: readonly Row[], view: Window): Scroll {
  const { store } = usePane();
  const list = useRef<VirtualizerHandle>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const latest = useRef({ offset: 0, rows, view });
  latest.current.rows = rows;
  latest.current.view = view;
  const [isAway, setAway] = useState(false);
  const [seen, setSeen] = useState(view.arrived);

  const follow = () => {
    if (store.isFollowed) list.current?.scrollToIndex(latest.current.rows.length - 1, { align: 'end' });
  };
  const readOn = (offset: number, gap: number) => {
    if (offset < AHEAD_PX) void store.older();
    if (gap < AHEAD_PX) void store.newer();
  };
  /** A list that shows its end follows it, also when it is too short to scroll. */
  const onResize = () => {
    const { current } = list;
    if (!current?.viewportSize) return;
    const gap = current.scrollSize - current.scrollOffset - current.viewportSize;
    if (gap < AT_END_PX && !latest.current.view.hasNewer) store.isFollowed = true;
    follow();
    holdTarget();
  };
  const onScroll = (offset: number) => {
    const { current } = list;
    if (!current) return;
    const gap = current.scrollSize - offset - current.viewportSize;
    const { hasNewer, arrived } = latest.current.view;
    const isAtEnd = gap < AT_END_PX && !hasNewer;
    if (isAtEnd) store.isFollowed = true;
    else if (offset < latest.current.offset - 1 || hasNewer) store.isFollowed = false;
    latest.current.offset = offset;
    store.topId = latest.current.rows[current.findItemIndex(offset)]?.id ?? null;
    setAway(gap > AWAY_PX || hasNewer);
    if (store.isFollowed) setSeen(arrived);
    readOn(offset, gap);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: new rows, and nothing else, move a list that follows its end
  useLayoutEffect(() => {
    follow();
    if (store.isFollowed) setSeen(view.arrived);
    if (list.current && view.status === 'ready' && !view.hasOlder && !view.hasNewer) return;
    const gap = list.current
      ? list.current.scrollSize - latest.current.offset - list.current.viewportSize
      : 0;
    if (view.status === 'ready' && list.current?.viewportSize) readOn(latest.current.offset, gap);
  }, [rows]);
  // At its edge the list does not scroll: without this, a page that could not be read is not asked for again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the listener reads what is current
  useEffect(() => {
    const { current: element } = scroller;
    const onMove = () => {
      const { current } = list;
      if (!current?.viewportSize || latest.current.view.status !== 'ready') return;
      readOn(current.scrollOffset, current.scrollSize - current.scrollOffset - current.viewportSize);
    };
    for (const move of ONWARD) element?.addEventListener(move, onMove, { passive: true });
    return () => {
      for (const move of ONWARD) element?.removeEventListener(move, onMove);
    };
  }, []);
  const { markedId, holdTarget } = useTarget(list, scroller, latest, view);
  return {
    list,
    scroller,
    onScroll,
    onResize,
    newCount: Math.max(0, view.arrived - seen),
    isAway,
    markedId,
    toEnd: () => void store.toEnd(),
  };
}

interface TargetState {
  /** The message that stands out. */
  markedId: string | null;
  /** Goes to the target again while the list has just opened there and the person has not moved it. */
  holdTarget(): void;
}

/** Goes where the window says that the list opens. */
function useTarget(
  list: RefObject<VirtualizerHandle | null>,
  scroller: RefObject<HTMLDivElement | null>,
  latest: RefObject<{ rows: readonly Row[] }>,
  { id, target, status }: Window,
): TargetState {
  const { store } = usePane();
  const [markedId, setMarked] = useState<string | null>(null);
  const held = useRef(false);
  const indexOfTarget = () =>
    latest.current.rows.findIndex((row) => row.id !== null && row.id === target.messageId);
  const goTo = (index: number) =>
    target.isJump
      ? list.current?.scrollToIndex(index, { align: 'center' })
      : list.current?.scrollToIndex(index, { align: 'start', offset: LEAD_PX });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new window opens at its target, also at the same one
  useLayoutEffect(() => {
    const { rows } = latest.current;
    if (status !== 'ready' || rows.length === 0) return;
    const index = indexOfTarget();
    store.isFollowed = index < 0 && !store.window().hasNewer;
    // A new list would first render the rows of its start.
    if (list.current?.viewportSize === 0 && scroller.current)
      scroller.current.scrollTop = list.current.getItemOffset(index < 0 ? rows.length : index);
    if (index < 0) list.current?.scrollToIndex(rows.length - 1, { align: 'end' });
    else goTo(index);
    setMarked(target.isJump && index >= 0 ? target.messageId : null);
    if (index >= 0) return heldUntilMoved(held, scroller.current);
  }, [id, target, status]);
  useEffect(() => {
    if (!markedId) return;
    const timer = setTimeout(() => setMarked(null), MARK_MS);
    return () => clearTimeout(timer);
  }, [markedId]);
  const holdTarget = () => {
    const index = held.current && !store.isFollowed ? indexOfTarget() : -1;
    if (index >= 0) goTo(index);
  };
  return { markedId, holdTarget };
}

/** On a slow device the virtual list stops to look for the target before all rows are measured, and stands far from it. */
function heldUntilMoved(held: RefObject<boolean>, scroller: HTMLElement | null): () => void {
  held.current = true;
  const release = () => {
    held.current = false;
    clearTimeout(timer);
    for (const move of MOVES) scroller?.removeEventListener(move, release);
  };
  const timer = setTimeout(release, SETTLED_MS);
  for (const move of MOVES) scroller?.addEventListener(move, release, { passive: true });
  return release;
}
