import type { Channel, Message, SessionUser } from '@parley/client';
import { createContext, use, useSyncExternalStore } from 'react';
import { noticeEnd } from '../api/query.ts';
import { showError } from '../base/errors.ts';
import type { MessageStore } from './store/store.ts';

/** What the rows of one list share: the main line of a channel, or a thread. Its identity changes only with the channel. */
export interface Pane {
  store: MessageStore;
  channel: Channel;
  me: SessionUser;
  threadId: string | null;
  openThread(rootId: string): void;
  quote(message: Message): void;
  /** Null ends the edit. */
  edit(messageId: string | null): void;
  askToDelete(message: Message): void;
}

export const PaneContext = createContext<Pane | null>(null);

export function usePane(): Pane {
  const pane = use(PaneContext);
  if (!pane) throw new Error('There is no list of messages around this component.');
  return pane;
}

export function useMessage(id: string): Message | undefined {
  const { store } = usePane();
  return useSyncExternalStore(store.subscribe, () => store.get(id));
}

/** Shows the failure of a small action; its success comes as an event. */
export function perform(call: Promise<unknown>): void {
  call.catch((error: unknown) => {
    noticeEnd(error);
    showError(error);
  });
}
