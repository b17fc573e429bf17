import { Text } from '@mantine/core';
import i18next from 'i18next';
import { memo, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { useMe } from '../../api/session.ts';
import { Markdown } from '../../ui/markdown/Markdown.tsx';
import type { Message, MessageBodyProperties } from '../types.ts';
import { ModelReply } from './ModelReply.tsx';
import { isOfModel, notCalled } from './reply.ts';

// The words of replies load beside the first messages.
void i18next.loadNamespaces('replies');

/** The text of a message, and what a model did for it. */
export const MessageBody = memo(function MessageBody({ message, ...rest }: MessageBodyProperties) {
  if (isOfModel(message)) {
    return (
      <Suspense fallback={<Markdown text={message.content} isLive={rest.isLive} />}>
        <ModelReply message={message} {...rest} />
      </Suspense>
    );
  }
  return (
    <>
      <Markdown text={message.content} />
      <NotCalled message={message} />
    </>
  );
});

/** Tells the author that a model does not answer. */
function NotCalled({ message }: { message: Message }) {
  const names = notCalled(message);
  if (names.length === 0) return null;
  return (
    <Suspense>
      <NotCalledNote names={names} authorId={message.user_id} />
    </Suspense>
  );
}

function NotCalledNote({ names, authorId }: { names: string[]; authorId: string }) {
  const { t, i18n } = useTranslation('replies');
  const me = useMe();
  if (authorId !== me.id) return null;
  return (
    <Text size="xs" c="dimmed">
      {t('notCalled', { names: new Intl.ListFormat(i18n.language).format(names), count: names.length })}
    </Text>
  );
}
