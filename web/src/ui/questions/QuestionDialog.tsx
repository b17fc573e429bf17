import { Button, Group, Modal, PasswordInput, Stack, Text, Textarea } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Question } from './question.ts';

interface Properties {
  question: Question;
  /** The name of the tool or function that asks. */
  asker: string;
  /**
   * Who asks and why, for a question that comes unexpectedly. The dialog then begins with the focus on this text: keys that
   * are typed at that moment must not answer.
   */
  note?: string;
  /** Closes the dialog without an answer; unless given, closing it declines. */
  onLater?(): void;
  /** `false` where the person declines, as tools expect. */
  onAnswer(answer: unknown): Promise<unknown>;
}

/** A question of a running tool: a confirmation, or a text. Give it a `key` for each question. */
export function QuestionDialog({ question, asker, note, onLater, onAnswer }: Properties) {
  const { t } = useTranslation('questions');
  const [isBusy, setBusy] = useState(false);
  async function answer(value: unknown) {
    setBusy(true);
    // The cache of mutations shows the sentence of the server; the dialog stays for another attempt.
    await onAnswer(value).catch(() => setBusy(false));
  }
  return (
    <Modal
      opened
      onClose={onLater ?? (() => void answer(question.kind === 'unknown' ? null : false))}
      title={question.title || t('title', { name: asker })}
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': t(onLater ? 'later' : 'decline') }}
    >
      {note && (
        <Text size="sm" c="dimmed" mb="sm" tabIndex={-1} data-autofocus style={{ outline: 'none' }}>
          {note}
        </Text>
      )}
      {question.kind === 'input' ? (
        <InputForm question={question} isBusy={isBusy} takesFocus={!note} onAnswer={answer} />
      ) : (
        <Confirmation question={question} isBusy={isBusy} takesFocus={!note} onAnswer={answer} />
      )}
    </Modal>
  );
}

interface PartProperties {
  question: Question;
  isBusy: boolean;
  takesFocus: boolean;
  onAnswer(value: unknown): void;
}

function Confirmation({ question: { kind, message }, isBusy, takesFocus, onAnswer }: PartProperties) {
  const { t } = useTranslation('questions');
  const isUnknown = kind === 'unknown';
  return (
    <Stack gap="md">
      <Text style={{ whiteSpace: 'pre-wrap' }}>{isUnknown ? t('unknown') : message}</Text>
      <Group justify="flex-end" gap="xs">
        {!isUnknown && (
          <Button variant="default" disabled={isBusy} onClick={() => onAnswer(false)}>
            {t('no')}
          </Button>
        )}
        <Button
          loading={isBusy}
          onClick={() => onAnswer(isUnknown ? null : true)}
          data-autofocus={takesFocus || undefined}
        >
          {isUnknown ? t('continue') : t('yes')}
        </Button>
      </Group>
    </Stack>
  );
}

function InputForm({ question, isBusy, takesFocus, onAnswer }: PartProperties) {
  const { t } = useTranslation('questions');
  const [text, setText] = useState(question.value);
  const shared = {
    label: question.message || t('answer'),
    placeholder: question.placeholder,
    value: text,
    'data-autofocus': takesFocus || undefined,
  };
  function submit(event: FormEvent) {
    event.preventDefault();
    onAnswer(text);
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        {question.isSecret ? (
          <PasswordInput {...shared} onChange={({ currentTarget }) => setText(currentTarget.value)} />
        ) : (
          <Textarea
            {...shared}
            autosize
            maxRows={8}
            onChange={({ currentTarget }) => setText(currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) submit(event);
            }}
          />
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" disabled={isBusy} onClick={() => onAnswer(false)}>
            {t('decline')}
          </Button>
          <Button type="submit" loading={isBusy}>
            {t('send')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
