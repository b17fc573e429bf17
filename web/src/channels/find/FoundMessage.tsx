import { Group, Text } from '@mantine/core';
import type { Message } from '@parley/client';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { dateOfNs, dayAndTime } from '../../base/time.ts';
import { authorOf } from '../../messages/author.ts';
import { Picture } from '../../ui/Picture.tsx';
import classes from './FoundMessage.module.css';

/** How much of a text is shown. */
export const FOUND_CHARACTERS = 600;

interface Properties {
  message: Message;
  /** The name of the channel, where messages of several are listed. */
  channelTitle?: string;
  /** Beside the time: what is new, for instance. */
  note?: ReactNode;
  onOpen?: () => void;
  /** The text. */
  children: ReactNode;
}

/** A message outside of its channel. It leads to its place there, and opens its thread. */
export function FoundMessage({ message, channelTitle, note, onOpen, children }: Properties) {
  const { t } = useTranslation('channels');
  const { id, channel_id, parent_id, created_at, data } = message;
  const author = authorOf(message);
  return (
    <Link
      to="/channels/$channelId"
      params={{ channelId: channel_id }}
      search={{ message: id, ...(parent_id && { thread: parent_id }) }}
      className={classes.found}
      onClick={onOpen}
    >
      <div className={classes.person}>
        <Picture src={author.picture} name={author.name} size={28} />
      </div>
      <div className={classes.text}>
        <Group gap="xs" wrap="nowrap">
          <Text size="sm" fw={600} truncate>
            {author.name}
          </Text>
          <Text size="xs" c="dimmed" className={classes.time}>
            <time dateTime={dateOfNs(created_at).toISOString()}>{dayAndTime(dateOfNs(created_at))}</time>
          </Text>
          {channelTitle && (
            <Text size="xs" c="dimmed" truncate>
              {t('find.in', { name: channelTitle })}
            </Text>
          )}
          {note}
        </Group>
        <div className={classes.content}>{children || t('find.files', { count: data.files.length })}</div>
      </div>
    </Link>
  );
}
