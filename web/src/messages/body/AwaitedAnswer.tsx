import { Button, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { showQuestion, useOpenQuestions } from '../../api/questions.ts';
import { useMe } from '../../api/session.ts';
import type { Message } from '../types.ts';

interface Properties {
  message: Pick<Message, 'id' | 'user_id' | 'user'>;
  callId: string;
}

/** Tells whose answer a tool waits for; that person can open the question again. */
export function AwaitedAnswer({ message: { id, user_id, user }, callId }: Properties) {
  const { t } = useTranslation('replies');
  const me = useMe();
  const question = useOpenQuestions().find((open) => open.message_id === id && open.call_id === callId);
  const isMine = user_id === me.id;
  return (
    <Group gap="xs" role="status">
      <Text size="sm" c="dimmed">
        {isMine ? t('call.waitsForYou') : t('call.waitsFor', { name: user?.name ?? '' })}
      </Text>
      {isMine && question && (
        <Button size="compact-sm" variant="light" onClick={() => showQuestion(question.id)}>
          {t('call.reply')}
        </Button>
      )}
    </Group>
  );
}
