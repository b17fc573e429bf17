import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { api } from '../../api/client.ts';
import { trpc } from '../../api/query.ts';
import { useMe } from '../../api/session.ts';
import { draftKey, updateDraft } from '../../composer/drafts.ts';
import { mentionOfModel } from '../../composer/mentions.ts';

interface Talk {
  model: { id: string; name: string };
  /** The channel to talk in; a new one without it. */
  channelId?: string;
}

/**
 * Opens a channel with the mention of a model in its composer. A new channel is a group that has only the
 * person.
 */
export function useTalk() {
  const me = useMe();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  return useMutation({
    async mutationFn({ model, channelId }: Talk): Promise<string> {
      const id = channelId ?? (await api.channels.create.mutate({ name: model.name, type: 'group' })).id;
      const mention = mentionOfModel(model.id, model.name);
      updateDraft(draftKey(me.id, id), { text: `@${mention.label} `, mentions: [mention] });
      return id;
    },
    async onSuccess(channelId) {
      void queryClient.invalidateQueries({ queryKey: trpc.channels.list.queryKey() });
      await navigate({ to: '/channels/$channelId', params: { channelId } });
    },
  });
}
