import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { trpc } from '../../api/query.ts';
import { useMe } from '../../api/session.ts';
import { readDraft, removeDraft, type Source, writeDraft } from './drafts.ts';
import { idOf, TEMPLATE } from './template.ts';

/** The id is made from the name until the person gives another one. */
type NewSource = Source & { id?: string };

const EMPTY: NewSource = { name: '', description: '', content: TEMPLATE };

/** The source of a tool that is not stored yet, kept as a draft. */
export function useNewSource() {
  const me = useMe();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const [source, setSource] = useState<NewSource>(() => readDraft(me.id, null) ?? EMPTY);
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
  return {
    source,
    change: (part: Partial<NewSource>) => setSource((before) => ({ ...before, ...part })),
    restart: () => setSource(EMPTY),
    isDirty,
    id,
    create,
    submit() {
      const meta = { description: source.description.trim() || null };
      create.mutate({ id, name: source.name.trim() || id, content: source.content, meta });
    },
  };
}
