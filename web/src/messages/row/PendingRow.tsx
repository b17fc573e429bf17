import { Button, Group, Text } from '@mantine/core';
import { memo } from 'react';
import { useTranslation } from 'react-i18next';
import { MessageBody } from '../body/MessageBody.tsx';
import { outboxOf } from '../outbox/current.ts';
import type { Entry } from '../outbox/entry.ts';
import { usePane } from '../pane.ts';
import { messageOf } from '../pending.ts';
import { AuthorPicture, RowHead, ShortTime } from './AuthorLine.tsx';
import { Lead } from './Lead.tsx';
import classes from './MessageRow.module.css';

interface Properties {
  entry: Entry;
  day: number | null;
  isFirst: boolean;
}

const nothing = () => {};

/** An own message that the server has not confirmed. */
export const PendingRow = memo(function PendingRow({ entry, day, isFirst }: Properties) {
  const { t } = useTranslation('messages');
  const { me, channel } = usePane();
  const message = messageOf(entry, me);
  return (
    <>
      <Lead day={day} />
      <article className={classes.row} data-first={isFirst || undefined} aria-label={t('outbox.label')}>
        {isFirst ? <AuthorPicture message={message} /> : <ShortTime message={message} />}
        <div className={classes.main}>
          {isFirst && <RowHead message={message} />}
          <div className={entry.error === null ? classes.pending : undefined}>
            <MessageBody
              message={message}
              isLive={false}
              channelId={channel.id}
              onStop={nothing}
              onRetry={nothing}
            />
            {entry.files.map(({ id, name }) => (
              <Text key={id} size="xs" c="dimmed" truncate>
                {name}
              </Text>
            ))}
          </div>
          {entry.error !== null && <Failure tempId={entry.tempId} error={entry.error} />}
        </div>
      </article>
    </>
  );
});

function Failure({ tempId, error }: { tempId: string; error: string }) {
  const { t } = useTranslation('messages');
  const { t: common } = useTranslation();
  const outbox = outboxOf(usePane().me.id);
  return (
    <Group gap="xs" role="alert">
      <Text size="sm" c="red">
        {t('outbox.failed', { error })}
      </Text>
      <Button size="compact-xs" variant="default" onClick={() => outbox.retry(tempId)}>
        {common('error.retry')}
      </Button>
      <Button size="compact-xs" variant="subtle" color="red" onClick={() => outbox.discard(tempId)}>
        {t('outbox.discard')}
      </Button>
    </Group>
  );
}
