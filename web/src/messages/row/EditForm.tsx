import { Button, Group, Stack, Textarea } from '@mantine/core';
import type { Message } from '@parley/client';
import { useMutation } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { isTouch } from '../../base/device.ts';
import { decodeMentions, encodeMentions } from '../../composer/mentions.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { usePane } from '../pane.ts';

/** Edits a message at its place. A refusal keeps the text. */
export function EditForm({ message }: { message: Message }) {
  const { t } = useTranslation('messages');
  const { t: common } = useTranslation();
  const { edit } = usePane();
  const [{ text, mentions }] = useState(() => decodeMentions(message.content));
  const [shown, setShown] = useState(text);
  const content = encodeMentions(shown, mentions);
  const update = useMutation(
    trpc.messages.update.mutationOptions({ meta: { showsError: true }, onSuccess: () => edit(null) }),
  );
  const save = () => {
    if (content === message.content) return edit(null);
    if (content.trim()) update.mutate({ id: message.channel_id, message_id: message.id, content });
  };
  const form = useFocusBack();
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') edit(null);
    // As in the composer: the keyboard of a phone has no Shift with Enter.
    if (event.key !== 'Enter' || event.shiftKey || isTouch()) return;
    event.preventDefault();
    save();
  };
  return (
    <Stack ref={form} gap={6} py={4}>
      <ErrorNote error={update.error} />
      <Textarea
        aria-label={t('edit.label')}
        dir="auto"
        autosize
        minRows={1}
        maxRows={16}
        autoFocus
        value={shown}
        onChange={({ currentTarget: { value } }) => setShown(value)}
        onFocus={({ currentTarget }) => currentTarget.setSelectionRange(shown.length, shown.length)}
        onKeyDown={onKeyDown}
      />
      <Group gap="xs">
        <Button size="compact-sm" onClick={save} loading={update.isPending} disabled={!content.trim()}>
          {common('action.save')}
        </Button>
        <Button size="compact-sm" variant="default" onClick={() => edit(null)}>
          {common('action.cancel')}
        </Button>
      </Group>
    </Stack>
  );
}

/** At the end of the edit the focus goes back to the composer, or to the message. */
function useFocusBack() {
  const form = useRef<HTMLDivElement>(null);
  const [before] = useState(() => document.activeElement);
  useEffect(() => {
    const row = form.current?.closest<HTMLElement>('[data-message]');
    return () => {
      if (document.activeElement !== document.body) return;
      const target = before?.isConnected && before !== document.body ? (before as HTMLElement) : row;
      target?.focus({ preventScroll: true });
    };
  }, [before]);
  return form;
}
