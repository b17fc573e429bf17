import { useEffect, useRef, useState } from 'react';
import { useLive } from '../../api/live.ts';

/** A shorter break is not worth a word. */
const SHORT_MS = 1500;
/** Missed events come without pauses. */
const QUIET_MS = 700;

/** True while the connection is away for longer than a moment. */
export function useIsAway(isBroken: boolean): boolean {
  const [isAway, setAway] = useState(false);
  useEffect(() => {
    if (!isBroken) return setAway(false);
    const timer = setTimeout(() => setAway(true), SHORT_MS);
    return () => clearTimeout(timer);
  }, [isBroken]);
  return isAway;
}

/** How many missed events have come since the connection is back; null when all are here. */
export function useMissed(isAway: boolean, isLive: boolean): number | null {
  const [missed, setMissed] = useState<number | null>(null);
  const wasAway = useRef(false);
  useEffect(() => {
    if (isAway) wasAway.current = true;
    else if (isLive && wasAway.current) {
      wasAway.current = false;
      setMissed(0);
    }
  }, [isAway, isLive]);
  useEffect(() => {
    if (missed === null) return;
    const timer = setTimeout(() => setMissed(null), QUIET_MS);
    return () => clearTimeout(timer);
  }, [missed]);
  useLive({
    onEvent() {
      if (missed !== null) setMissed((count) => (count ?? 0) + 1);
    },
  });
  return missed;
}
