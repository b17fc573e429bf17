import type { Message } from '@parley/client';
import { useNavigate } from '@tanstack/react-router';
import { useLive } from '../api/live.ts';
import { queryClient, trpc } from '../api/query.ts';
import { useMe } from '../api/session.ts';
import type { Listed } from '../channels/list/counts.ts';
import { plainText } from '../composer/mentions.ts';
import { authorOf } from '../messages/author.ts';

/** Notifications of the browser, for messages to the person while the window is away. */

const SHOWN_CHARACTERS = 180;

/** The person allowed them; the settings of the account ask. */
export const mayNotify = () => 'Notification' in window && Notification.permission === 'granted';

/** Shows a notification for each message to the person while the window is away. Used once, by the shell. */
export function useNotifications(): void {
  const me = useMe();
  const navigate = useNavigate();
  useLive({
    onEvent({ channel_id, data }) {
      if (data.type !== 'message' || document.hasFocus() || !mayNotify()) return;
      const message = data.data;
      const channel = queryClient
        .getQueryData<Listed[]>(trpc.channels.list.queryKey())
        ?.find(({ id }) => id === channel_id);
      if (!channel || !isFor(message, channel, me.id, me.name)) return;
      const { name } = authorOf(message);
      const title = channel.type === 'dm' ? name : `${name} · ${channel.name}`;
      // Several windows of one browser show it once.
      const notification = new Notification(title, {
        body: plainText(message.content, SHOWN_CHARACTERS),
        tag: message.id,
      });
      notification.onclick = () => {
        window.focus();
        const thread = message.parent_id;
        const search = { message: message.id, ...(thread && { thread }) };
        void navigate({ to: '/channels/$channelId', params: { channelId: channel_id }, search });
      };
    },
  });
}

type Posted = Pick<Message, 'id' | 'content' | 'user_id' | 'user' | 'parent_id' | 'meta'>;

function isFor({ content, user_id, meta }: Posted, channel: Listed, id: string, name: string): boolean {
  if (user_id === id && typeof meta.model_id !== 'string') return false;
  if (channel.type === 'dm') return channel.notify === 'all';
  if (channel.notify === 'none') return false;
  return content.toLowerCase().includes(`<@u:${id}`) || callsOf(name).test(content);
}

/** `@name`, `@here` and `@channel` as words of their own: not in an e-mail address, and not the beginning of another name. */
const callsOf = (name: string): RegExp =>
  new RegExp(
    `(?<![\\p{L}\\p{N}_])@(?:${name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}|here|channel)(?![\\p{L}\\p{N}\\p{M}_])`,
    'iu',
  );
