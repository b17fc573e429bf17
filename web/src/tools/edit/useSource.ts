import { isParleyError, type Tool } from '@parley/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { api } from '../../api/client.ts';
import { trpc } from '../../api/query.ts';
import { useMe } from '../../api/session.ts';
import { changesOf, isSameSource, readDraft, removeDraft, type Source, writeDraft } from './drafts.ts';

const sourceOf = ({ name, meta, content = '' }: Tool): Source => ({
  name,
  description: meta.description ?? '',
  content,
});

/** Another person stored a version meanwhile. */
export class Conflict extends Error {
  readonly stored: Tool;

  constructor(stored: Tool) {
    super('conflict');
    this.stored = stored;
  }
}

interface Save {
  /** The version of another person that the text replaces. */
  over?: Tool | null;
  note?: string;
}

/** The edited source of a stored tool: its draft, whether it differs, and how to save it. */
export function useSource(tool: Tool) {
  const me = useMe();
  const queryClient = useQueryClient();
  const [draft] = useState(() => readDraft(me.id, tool.id));
  const [hasDraft, setHasDraft] = useState(draft !== null && !isSameSource(draft, sourceOf(tool)));
  const [base, setBase] = useState({
    ...sourceOf(tool),
    versionId: hasDraft ? (draft?.versionId ?? tool.version_id) : tool.version_id,
  });
  const [source, setSource] = useState<Source>(hasDraft && draft ? draft : sourceOf(tool));
  const isDirty = !isSameSource(source, base);

  function adopt(stored: Tool) {
    const adopted = sourceOf(stored);
    setBase({ ...adopted, versionId: stored.version_id });
    setSource(adopted);
    setHasDraft(false);
  }
  // A new version of another person or tab replaces text that was not changed.
  if (!isDirty && base.versionId !== tool.version_id) adopt(tool);

  const { name, description, content } = source;
  const { versionId } = base;
  useEffect(() => {
    if (isDirty) writeDraft(me.id, tool.id, { name, description, content, versionId });
    else removeDraft(me.id, tool.id);
  }, [me.id, tool.id, isDirty, name, description, content, versionId]);

  const save = useMutation({
    async mutationFn({ over = null, note = '' }: Save) {
      // An update replaces the whole tool. What the person did not change is sent as it is stored now.
      const newest = await api.tools.get.query({ id: tool.id });
      const { name, description, content } = { ...sourceOf(newest), ...changesOf(source, base) };
      try {
        return await api.tools.update.mutate({
          id: tool.id,
          name,
          content,
          meta: { ...newest.meta, description: description.trim() === '' ? null : description },
          commit_message: note.trim() || null,
          version_id: over?.version_id ?? (source.content === base.content ? newest.version_id : versionId),
        });
      } catch (error) {
        if (!isParleyError(error) || error.code !== 'version_conflict') throw error;
        const stored = await api.tools.get.query({ id: tool.id });
        queryClient.setQueryData(trpc.tools.get.queryKey({ id: tool.id }), stored);
        throw new Conflict(stored);
      }
    },
    meta: { showsError: true },
    onSuccess(stored) {
      queryClient.setQueryData(trpc.tools.get.queryKey({ id: tool.id }), stored);
      adopt(stored);
      void queryClient.invalidateQueries({ queryKey: trpc.tools.list.queryKey() });
      for (const part of [trpc.toolVersions, trpc.toolHistory, trpc.valves, trpc.toolInstall])
        void queryClient.invalidateQueries({ queryKey: part.pathKey() });
    },
  });

  return {
    source,
    change: (part: Partial<Source>) => setSource((before) => ({ ...before, ...part })),
    isDirty,
    /** When the draft that the editor began with was written; null without one. */
    draftedAt: hasDraft && draft ? draft.savedAt : null,
    versionId,
    save,
    /** Goes back to the stored tool. */
    discard: () => adopt(tool),
    adopt,
  };
}
