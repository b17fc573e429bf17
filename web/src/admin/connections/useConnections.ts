import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { isSame } from '../../ui/schema/values.ts';
import { explainQuery, useExplained } from '../settings/settings.ts';
import { invalidate, send } from '../settings/useDrafts.ts';
import { type Connection, connectionsOf, type Kind, settingsOf } from './connections.ts';

/** Replaces, adds or removes one connection. */
export interface Edit {
  kind: Kind;
  /** The connection as it was shown; null adds one. */
  before: Connection | null;
  /** Null removes the connection. */
  next: Connection | null;
}

export function useConnections() {
  const { settings } = useExplained();
  const { t } = useTranslation('config');
  const queryClient = useQueryClient();
  const lists = { hosted: connectionsOf(settings, 'hosted'), ollama: connectionsOf(settings, 'ollama') };
  const save = useMutation({
    meta: { showsError: true },
    async mutationFn({ kind, before, next }: Edit) {
      // The server takes the whole list: it must have what other administrators stored meanwhile.
      const newest = await queryClient.fetchQuery({ ...explainQuery(), staleTime: 0 });
      const list = connectionsOf(newest.settings, kind);
      const index = before ? list.findIndex((one) => isSame(one, before)) : list.length;
      if (index === -1) throw new Error(t('connection.changed'));
      await send(settingsOf(kind, list.toSpliced(index, 1, ...(next ? [next] : [])), list.length === 0));
    },
    onSuccess: () => invalidate(queryClient),
  });
  return { settings, lists, save };
}
