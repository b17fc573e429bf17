import { Textarea } from '@mantine/core';
import { type KeyboardEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ComposerProperties } from '../messages/types.ts';

export function Composer({ onSend, onTyping, quote, onQuoteEnd }: ComposerProperties) {
  const { t } = useTranslation('composer');
  const [content, setContent] = useState('');
  const send = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing || !content.trim()) return;
    event.preventDefault();
    onSend({ content, files: [], replyToId: quote?.id ?? null });
    onQuoteEnd();
    setContent('');
  };
  return (
    <Textarea
      aria-label={t('label')}
      placeholder={t('label')}
      autosize
      minRows={1}
      maxRows={10}
      value={content}
      onChange={({ currentTarget: { value } }) => {
        setContent(value);
        onTyping();
      }}
      onKeyDown={send}
    />
  );
}
