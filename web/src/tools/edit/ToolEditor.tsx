import { Alert, Button, Group, Text, Textarea, TextInput } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import type { Tool } from '@parley/client';
import { useMutation } from '@tanstack/react-query';
import { AlignLeft, Save } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';
import { dayAndTime } from '../../ui/time.ts';
import { useToolRights } from '../rights.ts';
import { ConflictDialog } from './ConflictDialog.tsx';
import { Facts } from './Facts.tsx';
import { LeaveGuard } from './LeaveGuard.tsx';
import { SourceLayout } from './SourceLayout.tsx';
import { Conflict, useSource } from './useSource.ts';

/** The source of a stored tool with name and description, for people who may change it. */
export function ToolEditor({ tool }: { tool: Tool }) {
  const { t } = useTranslation('tools');
  const { mayWrite } = useToolRights();
  const editing = useSource(tool);
  const { source, change, isDirty, save } = editing;
  const [note, setNote] = useState('');
  const format = useMutation(
    trpc.toolFormat.format.mutationOptions({
      meta: { showsError: true },
      onSuccess: ({ code }) => change({ content: code }),
    }),
  );
  const submit = (overwrites = false) => {
    format.reset();
    save.mutate({ note, overwrites }, { onSuccess: () => setNote('') });
  };
  useHotkeys([['mod+S', () => isDirty && !save.isPending && submit()]], [], true);
  const conflict = save.error instanceof Conflict ? save.error.stored : null;
  return (
    <>
      <SourceLayout
        toolbar={
          <Toolbar
            isDirty={isDirty}
            version={tool.version_id}
            isSaving={save.isPending}
            onSave={() => submit()}
            isFormatting={format.isPending}
            onFormat={
              mayWrite
                ? () => {
                    save.reset();
                    format.mutate({ code: source.content });
                  }
                : undefined
            }
            onDiscard={async () => {
              save.reset();
              editing.discard();
            }}
          />
        }
        notes={
          <>
            {editing.draftedAt !== null && isDirty && (
              <Alert color="blue" py="xs">
                {t('edit.draft', { time: dayAndTime(new Date(editing.draftedAt)) })}
              </Alert>
            )}
            {!mayWrite && <Alert color="gray">{t('edit.noRight')}</Alert>}
          </>
        }
        content={source.content}
        onChange={(content) => change({ content })}
        problem={conflict ? null : (save.error ?? format.error)}
        warnings={tool.warnings}
        isReadOnly={!mayWrite}
        side={
          <>
            <NameFields source={source} onChange={change} />
            <TextInput
              label={t('edit.note')}
              description={t('edit.noteHint')}
              maxLength={1024}
              value={note}
              onChange={({ currentTarget }) => setNote(currentTarget.value)}
            />
            <Facts tool={tool} />
          </>
        }
      />
      {conflict && (
        <ConflictDialog
          stored={conflict}
          content={source.content}
          onClose={() => save.reset()}
          onOverwrite={() => submit(true)}
          onTake={() => {
            editing.adopt(conflict);
            save.reset();
          }}
        />
      )}
      <LeaveGuard isDirty={isDirty} />
    </>
  );
}

interface ToolbarProperties {
  isDirty: boolean;
  version: string;
  isSaving: boolean;
  onSave(): void;
  isFormatting: boolean;
  onFormat: (() => void) | undefined;
  onDiscard(): Promise<void>;
}

function Toolbar({
  isDirty,
  version,
  isSaving,
  onSave,
  isFormatting,
  onFormat,
  onDiscard,
}: ToolbarProperties) {
  const { t } = useTranslation(['tools', 'common']);
  return (
    <Group gap="xs">
      <Button
        size="xs"
        leftSection={<Save size={14} aria-hidden />}
        disabled={!isDirty}
        loading={isSaving}
        onClick={onSave}
      >
        {t('common:action.save')}
      </Button>
      {onFormat && (
        <Button
          size="xs"
          variant="default"
          leftSection={<AlignLeft size={14} aria-hidden />}
          loading={isFormatting}
          onClick={onFormat}
        >
          {t('edit.format')}
        </Button>
      )}
      {isDirty && (
        <ConfirmButton
          size="xs"
          label={t('edit.discard')}
          title={t('edit.discardTitle')}
          confirm={t('edit.discard')}
          onConfirm={onDiscard}
        >
          <Text>{t('edit.discardHint')}</Text>
        </ConfirmButton>
      )}
      <Text size="xs" c="dimmed" role="status">
        {isDirty ? t('edit.unsaved') : t('edit.saved', { version })}
      </Text>
    </Group>
  );
}

interface NameProperties {
  source: { name: string; description: string };
  onChange(part: { name?: string; description?: string }): void;
}

export function NameFields({ source, onChange }: NameProperties) {
  const { t } = useTranslation('tools');
  return (
    <>
      <TextInput
        label={t('edit.name')}
        required
        value={source.name}
        onChange={({ currentTarget }) => onChange({ name: currentTarget.value })}
      />
      <Textarea
        label={t('edit.description')}
        autosize
        minRows={2}
        maxRows={6}
        value={source.description}
        onChange={({ currentTarget }) => onChange({ description: currentTarget.value })}
      />
    </>
  );
}
