import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { dateOfNs, longDay } from '../../base/time.ts';
import { usePane } from '../pane.ts';
import classes from './MessageRow.module.css';

interface Properties {
  /** Nanoseconds. */
  day: number | null;
  isFirstUnread?: boolean;
  isStart?: boolean;
}

/** What stands above a message: the start of the channel, a new day, the line above unread messages. */
export function Lead({ day, isFirstUnread = false, isStart = false }: Properties) {
  const { t } = useTranslation('messages');
  const { channel, threadId } = usePane();
  return (
    <>
      {isStart && !threadId && (
        <div className={classes.start}>
          <Text fw={600}>{t('list.start', { name: channel.name })}</Text>
          {channel.description && <Text c="dimmed">{channel.description}</Text>}
        </div>
      )}
      {day !== null && <div className={classes.day}>{longDay(dateOfNs(day))}</div>}
      {isFirstUnread && <div className={classes.unread}>{t('list.unread')}</div>}
    </>
  );
}
