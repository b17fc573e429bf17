import { Box } from '@mantine/core';
import type { Channel } from '@parley/client';
import { Paperclip } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { trpc } from '../../api/query.ts';
import { closeOverlay } from '../../base/overlay.ts';
import { plainText } from '../../composer/mentions.ts';
import { Attachments } from '../../messages/files/Attachments.tsx';
import { Empty } from '../../ui/Empty.tsx';
import { FOUND_CHARACTERS, FoundMessage } from '../find/FoundMessage.tsx';
import { ListedMessages } from './ListedMessages.tsx';

/** The files of a channel with the messages that brought them, the newest first. */
export function Files({ channel: { id } }: { channel: Channel }) {
  const { t } = useTranslation('channels');
  return (
    <ListedMessages
      channelId={id}
      queryKey={trpc.messages.withFiles.pathKey()}
      load={(page) => api.messages.withFiles.query({ id, page })}
      events={['message', 'message:update', 'message:delete']}
      empty={
        <Empty icon={<Paperclip size={28} aria-hidden />} title={t('files.none')}>
          {t('files.noneHint')}
        </Empty>
      }
    >
      {(message) => (
        <Box key={message.id} pb="xs">
          <FoundMessage message={message} onOpen={closeOverlay}>
            {plainText(message.content, FOUND_CHARACTERS)}
          </FoundMessage>
          <Box pl={44}>
            <Attachments files={message.data.files} />
          </Box>
        </Box>
      )}
    </ListedMessages>
  );
}
