import { VisuallyHidden } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { authorOf } from '../author.ts';
import { usePane } from '../pane.ts';

const MOST_LETTERS = 200;

/** Reads the newest message of another person to people who use a screen reader. */
export function Announcer() {
  const { store, me } = usePane();
  const text = useSyncExternalStore(store.subscribe, () => {
    const { arrived, ids, hasNewer } = store.window();
    const message = arrived > 0 && !hasNewer ? store.get(ids.at(-1) ?? '') : undefined;
    // The reply of a model is read when it is whole.
    if (!message || message.user_id === me.id || message.meta.done === false) return '';
    return `${authorOf(message).name}: ${message.content.slice(0, MOST_LETTERS)}`;
  });
  return <VisuallyHidden aria-live="polite">{text}</VisuallyHidden>;
}
