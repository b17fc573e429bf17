import type { Channel } from '@parley/client';
import { useTranslation } from 'react-i18next';
import { useMe } from '../api/session.ts';

type Named = Pick<Channel, 'type' | 'name' | 'users'>;

/** The other people of a direct channel; the person alone in a channel with oneself. */
export function othersOf({ users }: Pick<Channel, 'users'>, me: string): NonNullable<Channel['users']> {
  const others = (users ?? []).filter(({ id }) => id !== me);
  return others.length > 0 ? others : (users ?? []);
}

/** The name that people see: that of the channel, and for a direct channel the names of the others. */
export function useChannelTitle(): (channel: Named) => string {
  const { t } = useTranslation('channels');
  const me = useMe();
  return (channel) => {
    if (channel.type !== 'dm') return channel.name;
    const others = othersOf(channel, me.id);
    if (others.length === 0) return channel.name || t('direct.gone');
    if (others.every(({ id }) => id === me.id)) return t('direct.self', { name: me.name });
    return others.map(({ name }) => name).join(', ');
  };
}
