import { Alert, TextInput } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import type { Tool } from '@parley/client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { dayAndTime } from '../../base/time.ts';
import { LeaveGuard } from '../../ui/form/LeaveGuard.tsx';
import { useToolRights } from '../rights.ts';
import { ConflictDialog } from './ConflictDialog.tsx';
import { EditorToolbar } from './EditorToolbar.tsx';
import { Facts } from './Facts.tsx';
import { NameFields } from './NameFields.tsx';
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
  /** Each action hides the problems of the one before. */
  const afresh = (act: () => void) => () => {
    format.reset();
    save.reset();
    act();
  };
  const submit = (over: Tool | null = null) =>
    afresh(() => save.mutate({ note, over }, { onSuccess: () => setNote('') }));
  useHotkeys([['mod+S', () => isDirty && !save.isPending && submit()()]], [], true);
  const conflict = save.error instanceof Conflict ? save.error.stored : null;
  return (
    <>
      <SourceLayout
        toolbar={
          <EditorToolbar
            isDirty={isDirty}
            version={tool.version_id}
            isSaving={save.isPending}
            onSave={submit()}
            isFormatting={format.isPending}
            onFormat={mayWrite ? afresh(() => format.mutate({ code: source.content })) : undefined}
            onDiscard={afresh(editing.discard)}
          />
        }
        notes={<Notes draftedAt={isDirty ? editing.draftedAt : null} mayWrite={mayWrite} />}
        content={source.content}
        onChange={(content) => change({ content })}
        problem={conflict ? null : (save.error ?? format.error)}
        warnings={tool.warnings}
        isReadOnly={!mayWrite}
        side={
          <>
            <NameFields source={source} onChange={change} />
            {mayWrite && <NoteField value={note} onChange={setNote} />}
            <Facts tool={tool} />
          </>
        }
      />
      {conflict && (
        <ConflictDialog
          stored={conflict}
          content={source.content}
          onClose={() => save.reset()}
          onOverwrite={submit(conflict)}
          onTake={afresh(() => editing.adopt(conflict))}
        />
      )}
      <LeaveGuard isDirty={isDirty} hint={t('leaveHint')} />
    </>
  );
}

function Notes({ draftedAt, mayWrite }: { draftedAt: number | null; mayWrite: boolean }) {
  const { t } = useTranslation('tools');
  return (
    <>
      {draftedAt !== null && (
        <Alert color="blue" py="xs">
          {t('edit.draft', { time: dayAndTime(new Date(draftedAt)) })}
        </Alert>
      )}
      {!mayWrite && (
        <Alert color="gray" py="xs">
          {t('edit.noRight')}
        </Alert>
      )}
    </>
  );
}

function NoteField({ value, onChange }: { value: string; onChange(value: string): void }) {
  const { t } = useTranslation('tools');
  return (
    <TextInput
      label={t('edit.note')}
      description={t('edit.noteHint')}
      maxLength={1024}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
