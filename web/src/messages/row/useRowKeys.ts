import type { KeyboardEvent } from 'react';
import { usePane } from '../pane.ts';
import { rightsOn } from './actions.ts';

/** The shortcuts of the message that has the focus. */
export function useRowKeys(id: string): (event: KeyboardEvent<HTMLElement>) => void {
  const pane = usePane();
  return (event) => {
    const message = pane.store.get(id);
    const isElsewhere =
      event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey;
    if (!message || isElsewhere || message.meta.deleted === true) return;
    const rights = rightsOn(message, pane);
    const keys: Record<string, (() => void) | false> = {
      e: rights.edit && (() => pane.edit(id)),
      q: rights.reply && (() => pane.quote(message)),
      t: !pane.threadId && (() => pane.openThread(id)),
      Delete: rights.delete && (() => pane.askToDelete(message)),
    };
    const run = keys[event.key];
    if (!run) return;
    event.preventDefault();
    run();
  };
}
