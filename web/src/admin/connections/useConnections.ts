import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useExplained } from '../settings/settings.ts';
import { invalidate, send } from '../settings/useDrafts.ts';
import { type Connection, connectionsOf, type Kind, settingsOf } from './connections.ts';

/** Replaces, adds or removes one connection. */
export interface Edit {
  kind: Kind;
  /** The place in the list; the end of the list adds one. */
  index: number;
  /** Null removes the connection. */
  next: Connection | null;
}

export function useConnections() {
  const { settings } = useExplained();
  const queryClient = useQueryClient();
  const lists = { hosted: connectionsOf(settings, 'hosted'), ollama: connectionsOf(settings, 'ollama') };
  const save = useMutation({
    meta: { showsError: true },
    async mutationFn({ kind, index, next }: Edit) {
      const before = lists[kind];
      const after = before.toSpliced(index, 1, ...(next ? [next] : []));
      await send(settingsOf(kind, after, before.length === 0));
    },
    onSuccess: () => invalidate(queryClient),
  });
  return { settings, lists, save };
}
