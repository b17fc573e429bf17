import type { Channel } from '@parley/client';
import { Pin } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { trpc } from '../../api/query.ts';
import { closeOverlay } from '../../base/overlay.ts';
import { plainText } from '../../composer/mentions.ts';
import { Empty } from '../../ui/Empty.tsx';
import { FOUND_CHARACTERS, FoundMessage } from '../find/FoundMessage.tsx';
import { ListedMessages } from './ListedMessages.tsx';

/** The pinned messages of a channel, the newest pin first. */
export function Pins({ channel: { id } }: { channel: Channel }) {
  const { t } = useTranslation('channels');
  return (
    <ListedMessages
      channelId={id}
      queryKey={trpc.messages.pinned.pathKey()}
      load={(page) => api.messages.pinned.query({ id, page })}
      events={['message:update', 'message:delete']}
      empty={
        <Empty icon={<Pin size={28} aria-hidden />} title={t('pins.none')}>
          {t('pins.noneHint')}
        </Empty>
      }
    >
      {(message) => (
        <FoundMessage key={message.id} message={message} onOpen={closeOverlay}>
          {plainText(message.content, FOUND_CHARACTERS)}
        </FoundMessage>
      )}
    </ListedMessages>
  );
}
