import { Button, Group, Modal, PasswordInput, Stack, Text, Textarea } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Question, questionOf } from './question.ts';

interface Properties {
  /** What the tool gave to `__event_call__`. */
  event: unknown;
  /** The name of the tool or function that asks. */
  asker: string;
  /** `false` where the person declines, as tools expect. */
  onAnswer(answer: unknown): Promise<unknown>;
}

/** A question of a running tool: a confirmation, or a text. Give it a `key` for each question. */
export function QuestionDialog({ event, asker, onAnswer }: Properties) {
  const { t } = useTranslation('tools');
  const question = questionOf(event);
  const [isBusy, setBusy] = useState(false);
  async function answer(value: unknown) {
    setBusy(true);
    // The cache of mutations shows the sentence of the server; the dialog stays for another attempt.
    await onAnswer(value).catch(() => setBusy(false));
  }
  return (
    <Modal
      opened
      onClose={() => void answer(question.kind === 'unknown' ? null : false)}
      title={question.title || t('question.title', { name: asker })}
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': t('question.decline') }}
    >
      {question.kind === 'input' ? (
        <InputForm question={question} isBusy={isBusy} onAnswer={answer} />
      ) : (
        <Confirmation question={question} isBusy={isBusy} onAnswer={answer} />
      )}
    </Modal>
  );
}

interface PartProperties {
  question: Question;
  isBusy: boolean;
  onAnswer(value: unknown): void;
}

function Confirmation({ question: { kind, message }, isBusy, onAnswer }: PartProperties) {
  const { t } = useTranslation('tools');
  const isUnknown = kind === 'unknown';
  return (
    <Stack gap="md">
      <Text style={{ whiteSpace: 'pre-wrap' }}>{isUnknown ? t('question.unknown') : message}</Text>
      <Group justify="flex-end" gap="xs">
        {!isUnknown && (
          <Button variant="default" disabled={isBusy} onClick={() => onAnswer(false)}>
            {t('question.no')}
          </Button>
        )}
        <Button loading={isBusy} onClick={() => onAnswer(isUnknown ? null : true)} data-autofocus>
          {isUnknown ? t('question.continue') : t('question.yes')}
        </Button>
      </Group>
    </Stack>
  );
}

function InputForm({ question, isBusy, onAnswer }: PartProperties) {
  const { t } = useTranslation('tools');
  const [text, setText] = useState(question.value);
  const shared = {
    label: question.message || t('question.answer'),
    placeholder: question.placeholder,
    value: text,
    'data-autofocus': true,
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
            {t('question.decline')}
          </Button>
          <Button type="submit" loading={isBusy}>
            {t('question.send')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
