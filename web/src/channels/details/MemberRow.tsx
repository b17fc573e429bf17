import { ActionIcon, Menu, Text } from '@mantine/core';
import type { Channel, Outputs } from '@parley/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Ellipsis, MessageCircle, ShieldCheck, UserMinus } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { useMe } from '../../api/session.ts';
import { Person } from '../../ui/Person.tsx';
import { useWriteTo } from '../useWriteTo.ts';
import classes from './MemberRow.module.css';

type Member = Outputs['members']['list']['users'][number];

interface Properties {
  member: Member;
  channel: Channel;
  /** The person may change the members. */
  isManaged: boolean;
}

export function MemberRow({ member, channel, isManaged }: Properties) {
  const { t } = useTranslation('channels');
  const me = useMe();
  const isManager = member.channel_role === 'manager';
  return (
    <li className={classes.row}>
      <span className={classes.person}>
        <Person id={member.id} name={member.name} size={28} />
        {member.is_active && <span className={classes.online} role="img" aria-label={t('online')} />}
      </span>
      <div className={classes.text}>
        <Text size="sm" truncate>
          {member.id === me.id ? t('common:grants.you', { name: member.name }) : member.name}
        </Text>
        {(isManager || member.username) && (
          <Text size="xs" c="dimmed" truncate>
            {[isManager && t('members.manager'), member.username].filter(Boolean).join(' · ')}
          </Text>
        )}
      </div>
      {(isManaged || member.id !== me.id) && (
        <MemberMenu member={member} channel={channel} isManaged={isManaged} />
      )}
    </li>
  );
}

function MemberMenu({ member, channel, isManaged }: Properties) {
  const { t } = useTranslation('channels');
  const me = useMe();
  const write = useWriteTo();
  const queryClient = useQueryClient();
  const onSuccess = () => queryClient.invalidateQueries(trpc.members.list.pathFilter());
  const setRole = useMutation(trpc.members.setRole.mutationOptions({ onSuccess }));
  const remove = useMutation(trpc.members.remove.mutationOptions({ onSuccess }));
  const isManager = member.channel_role === 'manager';
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={t('members.menu', { name: member.name })}>
          <Ellipsis size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {member.id !== me.id && (
          <Menu.Item
            leftSection={<MessageCircle size={16} aria-hidden />}
            onClick={() => write.mutate(member.id)}
          >
            {t('members.write')}
          </Menu.Item>
        )}
        {isManaged && (
          <Menu.Item
            leftSection={<ShieldCheck size={16} aria-hidden />}
            onClick={() =>
              setRole.mutate({ id: channel.id, user_id: member.id, role: isManager ? 'member' : 'manager' })
            }
          >
            {t(isManager ? 'members.demote' : 'members.promote')}
          </Menu.Item>
        )}
        {isManaged && member.id !== me.id && (
          <Menu.Item
            color="red"
            leftSection={<UserMinus size={16} aria-hidden />}
            onClick={() => remove.mutate({ id: channel.id, user_ids: [member.id] })}
          >
            {t('members.remove')}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
