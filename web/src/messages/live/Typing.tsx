import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useLive } from '../../api/live.ts';
import { usePane } from '../pane.ts';
import classes from './live.module.css';

/** People send the notice again while they type. */
const FADES_MS = 6000;

interface Typist {
  id: string;
  name: string;
  until: number;
}

/** Says who is typing here. Its room is reserved, so that the list does not move. */
export function Typing() {
  const { t } = useTranslation('messages');
  const { channel, me, threadId } = usePane();
  const [typists, setTypists] = useState<readonly Typist[]>([]);
  useLive({
    onNotice({ channel_id, message_id, data, user }) {
      if (channel_id !== channel.id || message_id !== threadId || user.id === me.id) return;
      if (data.type !== 'typing') return;
      const isTyping = data.data.typing === true;
      const one = { id: user.id, name: user.name, until: Date.now() + FADES_MS };
      setTypists((all) => [...all.filter(({ id }) => id !== user.id), ...(isTyping ? [one] : [])]);
    },
    onEvent({ channel_id, data, user }) {
      if (channel_id !== channel.id || data.type !== 'message') return;
      setTypists((all) =>
        all.some(({ id }) => id === user.id) ? all.filter(({ id }) => id !== user.id) : all,
      );
    },
  });
  useEffect(() => {
    const [first] = typists;
    if (!first) return;
    const timer = setTimeout(
      () => setTypists((all) => all.filter(({ until }) => until > Date.now())),
      first.until - Date.now() + 10,
    );
    return () => clearTimeout(timer);
  }, [typists]);
  const [one, two] = typists;
  return (
    <div className={classes.typing} role="status">
      {typists.length === 1 && t('typing.one', { name: one?.name })}
      {typists.length === 2 && t('typing.two', { name: one?.name, other: two?.name })}
      {typists.length > 2 && t('typing.many')}
    </div>
  );
}
