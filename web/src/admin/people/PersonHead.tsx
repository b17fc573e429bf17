import { Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { dateOfSeconds, dayAndTime } from '../../base/time.ts';
import { AnchorTo } from '../../ui/links.tsx';
import { Person } from '../../ui/Person.tsx';
import type { PersonDetail } from './person.ts';
import { RoleBadge } from './RoleBadge.tsx';
import { SignInMethods } from './SignInMethods.tsx';

/** Who the person is, since when, and how the person signed in last. */
export function PersonHead({ person }: { person: PersonDetail }) {
  const { t } = useTranslation('admin');
  const { id, name, email, role, created_at, last_active_at } = person;
  const { data } = useQuery(trpc.audit.list.queryOptions({ actor: id, action: 'auth.signin', limit: 1 }));
  const signIn = data?.entries[0];
  const method = signIn && String(signIn.after?.method ?? '');
  return (
    <Group gap="md" wrap="nowrap" align="flex-start">
      <Person id={id} name={name} size={56} />
      <Stack gap={4} style={{ minWidth: 0 }}>
        <Group gap="xs">
          <Text fw={600}>{name}</Text>
          <RoleBadge role={role} />
        </Group>
        <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {email}
        </Text>
        <Text size="sm" c="dimmed">
          {t('person.times', {
            created: dayAndTime(dateOfSeconds(created_at)),
            active: dayAndTime(dateOfSeconds(last_active_at)),
          })}
        </Text>
        <Text size="sm" c="dimmed" mih={20}>
          {signIn &&
            t('person.signIn', {
              time: dayAndTime(dateOfSeconds(signIn.created_at)),
              method: t(`method.${method}`, { defaultValue: method }),
            })}
        </Text>
        <Group gap={4} c="dimmed">
          <Text size="sm">{t('person.signInBy')}</Text>
          <SignInMethods methods={person.sign_in} />
        </Group>
        <Group gap="md">
          <AnchorTo to="/admin/permissions" search={{ view: 'explain', user: id }} size="sm">
            {t('explain.title')}
          </AnchorTo>
          <AnchorTo to="/admin/audit" search={{ target: `user:${id}` }} size="sm">
            {t('person.audit')}
          </AnchorTo>
        </Group>
      </Stack>
    </Group>
  );
}
