import { useEffect, useRef } from 'react';
import { api } from '../../api/client.ts';

const EVERY_MS = 3000;
const PAUSE_MS = 5000;

/** Tells the channel that the person types, and a while later that they stopped. Losing one of these does no harm. */
export function useTyping(channelId: string, threadId: string | null) {
  const state = useRef<{ toldAt: number; timer: ReturnType<typeof setTimeout> | undefined }>({
    toldAt: 0,
    timer: undefined,
  });
  const tell = (typing: boolean) => {
    state.current.toldAt = typing ? Date.now() : 0;
    void api.members.typing.mutate({ id: channelId, message_id: threadId, typing }).catch(() => {});
  };
  const stop = () => {
    clearTimeout(state.current.timer);
    if (state.current.toldAt > 0) tell(false);
  };
  const onTyping = () => {
    clearTimeout(state.current.timer);
    state.current.timer = setTimeout(stop, PAUSE_MS);
    if (Date.now() - state.current.toldAt > EVERY_MS) tell(true);
  };
  useEffect(() => () => clearTimeout(state.current.timer), []);
  /** A post ends it by itself. */
  const sent = () => {
    clearTimeout(state.current.timer);
    state.current.toldAt = 0;
  };
  return { onTyping, sent };
}
