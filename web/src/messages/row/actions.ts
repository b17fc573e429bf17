import type { Message } from '@parley/client';
import {
  Copy,
  Link as LinkIcon,
  type LucideIcon,
  MessageSquareText,
  Pencil,
  Pin,
  PinOff,
  Quote,
  Trash2,
} from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { authorOf } from '../author.ts';
import { type Pane, perform, usePane } from '../pane.ts';

/** The reactions that need no picker. */
export const QUICK = ['👍', '✅', '😄'];

export interface Action {
  key: string;
  label: string;
  icon: LucideIcon;
  isDangerous?: boolean;
  run(): void;
}

/** Adds the own reaction, or takes it away. */
export function toggleReaction({ channel_id, id, reactions }: Message, name: string, me: string): void {
  const reaction = reactions.find((each) => each.name === name);
  const isOwn = reaction?.users.some((user) => user.id === me) ?? false;
  const input = { id: channel_id, message_id: id, name };
  perform(isOwn ? api.reactions.remove.mutate(input) : api.reactions.add.mutate(input));
}

export const isOwn = (message: Message, me: { id: string }): boolean =>
  message.user_id === me.id && authorOf(message).kind === 'person';

/** What the person may do with a message, by the rules of the server. */
export function rightsOn(message: Message, { channel, me }: Pane) {
  const isModerator = channel.is_manager || me.role === 'admin';
  return {
    react: channel.write_access,
    reply: channel.write_access,
    edit: isOwn(message, me),
    delete: message.user_id === me.id || isModerator,
  };
}

/** The address of a message. */
export function linkTo({ channel_id, id, parent_id }: Message): string {
  const url = new URL(`/channels/${channel_id}`, window.location.origin);
  if (parent_id) url.searchParams.set('thread', parent_id);
  url.searchParams.set('message', id);
  return url.href;
}

/** The actions on a message, in the order of menus. */
export function useActions(message: Message): Action[] {
  const { t } = useTranslation('messages');
  const pane = usePane();
  const rights = rightsOn(message, pane);
  const { id, channel_id, is_pinned } = message;
  const pin = () =>
    perform(api.messages.pin.mutate({ id: channel_id, message_id: id, is_pinned: !is_pinned }));
  const copy = (text: string) => perform(navigator.clipboard.writeText(text));
  const actions: (Action & { isShown: boolean })[] = [
    {
      key: 'thread',
      label: t('action.thread'),
      icon: MessageSquareText,
      isShown: pane.threadId === null,
      run: () => pane.openThread(message.parent_id ?? id),
    },
    {
      key: 'quote',
      label: t('action.quote'),
      icon: Quote,
      isShown: rights.reply,
      run: () => pane.quote(message),
    },
    { key: 'edit', label: t('action.edit'), icon: Pencil, isShown: rights.edit, run: () => pane.edit(id) },
    {
      key: 'pin',
      label: t(is_pinned ? 'action.unpin' : 'action.pin'),
      icon: is_pinned ? PinOff : Pin,
      isShown: true,
      run: pin,
    },
    {
      key: 'link',
      label: t('action.link'),
      icon: LinkIcon,
      isShown: true,
      run: () => copy(linkTo(message)),
    },
    { key: 'copy', label: t('action.copy'), icon: Copy, isShown: true, run: () => copy(message.content) },
    {
      key: 'delete',
      label: t('action.delete'),
      icon: Trash2,
      isDangerous: true,
      isShown: rights.delete,
      run: () => pane.askToDelete(message),
    },
  ];
  return actions.filter(({ isShown }) => isShown);
}
