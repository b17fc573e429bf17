import { Badge } from '@mantine/core';
import type { Message } from '@parley/client';
import { Pin } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { dateOfNs, dayAndTime, timeOfDay } from '../../base/time.ts';
import { Picture } from '../../ui/Picture.tsx';
import { authorOf } from '../author.ts';
import { useIsPresent } from '../live/presence.ts';
import classes from './MessageRow.module.css';

interface Properties {
  message: Message;
}

export function AuthorPicture({ message }: Properties) {
  const { t } = useTranslation('messages');
  const { name, picture, kind } = authorOf(message);
  const isPresent = useIsPresent(message.user_id) && kind === 'person';
  return (
    <div className={classes.picture}>
      <Picture src={picture} name={name} />
      {isPresent && <span className={classes.dot} role="img" aria-label={t('row.present')} />}
    </div>
  );
}

const isEdited = ({ updated_at, created_at, meta }: Message) =>
  updated_at > created_at && meta.model_id === undefined && meta.deleted !== true;

/** The name of the author with the time. */
export function RowHead({ message }: Properties) {
  const { t } = useTranslation('messages');
  const { name, kind } = authorOf(message);
  const date = dateOfNs(message.created_at);
  return (
    <div className={classes.head}>
      <span className={classes.name}>{name}</span>
      {kind !== 'person' && (
        <Badge size="xs" variant="default" tt="none">
          {t(`author.${kind}`)}
        </Badge>
      )}
      <time className={classes.time} dateTime={date.toISOString()} title={dayAndTime(date)}>
        {timeOfDay(date)}
      </time>
      {isEdited(message) && <span className={classes.quiet}>{t('row.edited')}</span>}
      {message.is_pinned && <Pin size={12} role="img" aria-label={t('row.pinned')} />}
    </div>
  );
}

/** The time of a message that shows no name. */
export function ShortTime({ message }: Properties) {
  const date = dateOfNs(message.created_at);
  return (
    <time className={classes.shortTime} dateTime={date.toISOString()} title={dayAndTime(date)}>
      {timeOfDay(date)}
    </time>
  );
}
