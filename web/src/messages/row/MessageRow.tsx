import { lazy, memo, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { dateOfNs, dayAndTime } from '../../base/time.ts';
import { authorOf } from '../author.ts';
import { useMessage, usePane } from '../pane.ts';
import { AuthorPicture, RowHead, ShortTime } from './AuthorLine.tsx';
import { Content } from './Content.tsx';
import { EditForm } from './EditForm.tsx';
import { Lead } from './Lead.tsx';
import classes from './MessageRow.module.css';
import { Quote } from './Quote.tsx';
import { Reactions } from './Reactions.tsx';
import { ThreadLink } from './ThreadLink.tsx';
import { useRowKeys } from './useRowKeys.ts';
import { useSheet } from './useSheet.tsx';

const Toolbar = lazy(() => import('./Toolbar.tsx'));

interface Properties {
  id: string;
  day: number | null;
  isFirstUnread: boolean;
  isFirst: boolean;
  isStart: boolean;
  /** The pointer or the focus is here, so the row has its toolbar. */
  isActive: boolean;
  isTabStop: boolean;
  isMarked: boolean;
  isEditing: boolean;
  onActive(id: string): void;
}

/** One message. It is rendered again only when it changes itself. */
export const MessageRow = memo(function MessageRow({
  id,
  isActive,
  isEditing,
  onActive,
  ...rest
}: Properties) {
  const { t } = useTranslation('messages');
  const { threadId } = usePane();
  const message = useMessage(id);
  const onKeyDown = useRowKeys(id);
  const { sheet, longPress } = useSheet(id);
  if (!message) return <div />;
  const isDeleted = message.meta.deleted === true;
  const { name } = authorOf(message);
  return (
    <>
      <Lead day={rest.day} isFirstUnread={rest.isFirstUnread} isStart={rest.isStart} />
      <article
        className={classes.row}
        data-message={id}
        data-first={rest.isFirst || undefined}
        data-active={isActive || undefined}
        data-marked={rest.isMarked || undefined}
        data-pinned={message.is_pinned || undefined}
        aria-label={t('row.label', { name, time: dayAndTime(dateOfNs(message.created_at)) })}
        tabIndex={rest.isTabStop ? 0 : -1}
        onFocus={() => onActive(id)}
        onPointerEnter={({ pointerType }) => pointerType === 'mouse' && onActive(id)}
        onKeyDown={onKeyDown}
        {...longPress}
      >
        {rest.isFirst ? <AuthorPicture message={message} /> : <ShortTime message={message} />}
        <div className={classes.main}>
          {message.reply_to_id && <Quote message={message} />}
          {rest.isFirst && <RowHead message={message} />}
          {isDeleted ? <em className={classes.quiet}>{t('row.deleted')}</em> : null}
          {!isDeleted && (isEditing ? <EditForm message={message} /> : <Content message={message} />)}
          {message.reactions.length > 0 && <Reactions message={message} />}
          {!threadId && message.reply_count > 0 && <ThreadLink message={message} />}
        </div>
        {isActive && !isEditing && !isDeleted && (
          <Suspense>
            <Toolbar message={message} />
          </Suspense>
        )}
      </article>
      {sheet}
    </>
  );
});
