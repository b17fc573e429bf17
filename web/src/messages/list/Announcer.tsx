import { VisuallyHidden } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { authorOf } from '../author.ts';
import { usePane } from '../pane.ts';

/** Tells people who use a screen reader that a message came. */
export function Announcer() {
  const { t } = useTranslation('messages');
  const { store, me } = usePane();
  const name = useSyncExternalStore(store.subscribe, () => {
    const { arrived, ids, hasNewer } = store.window();
    const message = arrived > 0 && !hasNewer ? store.get(ids.at(-1) ?? '') : undefined;
    // The reply of a model is told when it is whole.
    if (!message || message.user_id === me.id || message.meta.done === false) return null;
    return authorOf(message).name;
  });
  return <VisuallyHidden aria-live="polite">{name !== null && t('list.arrived', { name })}</VisuallyHidden>;
}
