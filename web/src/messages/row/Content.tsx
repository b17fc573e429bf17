import { Button } from '@mantine/core';
import type { Message } from '@parley/client';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { MessageBody } from '../body/MessageBody.tsx';
import { Attachments } from '../files/Attachments.tsx';
import { perform, usePane } from '../pane.ts';
import classes from './MessageRow.module.css';

/** A longer text is folded: it would push all other messages out of sight. */
const FOLD_CHARACTERS = 4000;
const SHOWN_CHARACTERS = 2000;

/** Text and files of a message. */
export function Content({ message }: { message: Message }) {
  const { t } = useTranslation('messages');
  const { store, channel } = usePane();
  const isLive = message.meta.done === false;
  // A text that was read while it was written stays open when it is whole.
  const [isOpen, setOpen] = useState(isLive);
  const isAbridged = message.meta.abridged === true;
  const isLong = !isLive && (message.content.length > FOLD_CHARACTERS || isAbridged);
  const isFolded = isLong && !isOpen;
  const shown = isFolded ? { ...message, content: message.content.slice(0, SHOWN_CHARACTERS) } : message;
  const one = { id: channel.id, message_id: message.id };
  const toggle = () => {
    setOpen(!isOpen);
    if (isAbridged) void store.readWhole(message.id);
  };
  return (
    <>
      <div className={isFolded ? classes.fold : undefined}>
        <MessageBody
          message={shown}
          isLive={isLive}
          channelId={channel.id}
          onStop={() => perform(api.replies.stop.mutate(one))}
          onRetry={() => perform(api.replies.retry.mutate(one))}
        />
      </div>
      {isLong && (
        <Button size="compact-xs" variant="subtle" onClick={toggle} aria-expanded={isOpen}>
          {isOpen ? t('row.fold') : t('row.unfold')}
        </Button>
      )}
      {message.data.files.length > 0 && <Attachments files={message.data.files} />}
    </>
  );
}
