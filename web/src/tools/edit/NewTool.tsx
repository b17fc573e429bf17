import { Button, Group, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Save } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { useMe } from '../../api/session.ts';
import { Page } from '../../ui/Page.tsx';
import { readDraft, removeDraft, type Source, writeDraft } from './drafts.ts';
import { LeaveGuard } from './LeaveGuard.tsx';
import { SourceLayout } from './SourceLayout.tsx';
import { NameFields } from './ToolEditor.tsx';
import { idOf, TEMPLATE } from './template.ts';

const EMPTY = { name: '', description: '', content: TEMPLATE, id: '' };

/** A new tool, which begins with a template, or with the draft that was not saved. */
export function NewTool() {
  const { t } = useTranslation(['tools', 'common']);
  const me = useMe();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [source, setSource] = useState<Source & { id?: string }>(() => readDraft(me.id, null) ?? EMPTY);
  const isDirty = source.name !== '' || source.description !== '' || source.content !== TEMPLATE;
  const id = source.id || idOf(source.name);
  useEffect(() => {
    if (isDirty) writeDraft(me.id, null, { ...source, versionId: null });
    else removeDraft(me.id, null);
  }, [me.id, source, isDirty]);
  const create = useMutation(
    trpc.tools.create.mutationOptions({
      meta: { showsError: true },
      onSuccess(tool, { content }) {
        removeDraft(me.id, null);
        const seen = { ...tool, content, write_access: true };
        queryClient.setQueryData(trpc.tools.get.queryKey({ id: tool.id }), seen);
        void queryClient.invalidateQueries({ queryKey: trpc.tools.list.queryKey() });
        void navigate({ to: '/tools/$toolId', params: { toolId: tool.id }, ignoreBlocker: true });
      },
    }),
  );
  const submit = () =>
    create.mutate({
      id,
      name: source.name,
      content: source.content,
      meta: { description: source.description.trim() || null },
    });
  const change = (part: Partial<Source & { id: string }>) => setSource((before) => ({ ...before, ...part }));
  return (
    <Page title={t('create.title')} wide>
      <SourceLayout
        toolbar={
          <Group gap="xs">
            <Button
              size="xs"
              leftSection={<Save size={14} aria-hidden />}
              disabled={source.name.trim() === '' || id === ''}
              loading={create.isPending}
              onClick={submit}
            >
              {t('create.submit')}
            </Button>
            {isDirty && (
              <Button size="xs" variant="default" onClick={() => setSource(EMPTY)}>
                {t('create.restart')}
              </Button>
            )}
          </Group>
        }
        content={source.content}
        onChange={(content) => change({ content })}
        problem={create.error}
        side={
          <>
            <NameFields source={source} onChange={change} />
            <TextInput
              label={t('create.id')}
              description={t('create.idHint')}
              placeholder={idOf(source.name)}
              value={source.id ?? ''}
              onChange={({ currentTarget }) =>
                change({ id: currentTarget.value.toLowerCase().replaceAll(/[^a-z0-9_]/g, '_') })
              }
            />
          </>
        }
      />
      <LeaveGuard isDirty={isDirty && !create.isSuccess} />
    </Page>
  );
}
