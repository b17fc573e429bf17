import { Group, List, Paper, Skeleton, Stack, Text } from '@mantine/core';
import { skipToken, useQuery } from '@tanstack/react-query';
import { CircleCheck, CircleX } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { ErrorNote } from '../ErrorNote.tsx';
import { AnchorTo } from '../links.tsx';
import { useNames } from './principals.ts';

export interface Question {
  userId: string;
  kind: 'permission' | 'channel' | 'tool' | 'model';
  /** The permission's dotted name, or the id of the resource. */
  id: string;
  label: string;
  right: 'read' | 'write';
}

const inputOf = ({ userId, kind, id, right }: Question) =>
  kind === 'permission'
    ? { user_id: userId, permission: id }
    : { user_id: userId, resource_type: kind, resource_id: id, right };

/** The answer in sentences: yes or no, the rule that decides, and the groups and grants that it rests on. */
export function Explanation({ question }: { question: Question }) {
  const { t } = useTranslation('admin');
  const { data, error } = useQuery(trpc.access.explain.queryOptions(inputOf(question), { staleTime: 0 }));
  const person = useQuery(trpc.people.info.queryOptions(data ? { id: question.userId } : skipToken));
  if (error) return <ErrorNote error={error} />;
  if (!data) return <Skeleton height={96} />;
  const answer = question.kind === 'permission' ? 'permission' : 'resource';
  const sentence = t(`explain.${data.allowed ? 'allowed' : 'refused'}.${answer}`, {
    name: person.data?.name ?? '',
    what: question.label,
    kind: t(`explain.object.${question.kind}`),
    right: t(`explain.verbs.${question.right}`),
  });
  const [Icon, color] = data.allowed ? [CircleCheck, 'green'] : [CircleX, 'red'];
  return (
    <Paper withBorder p="md">
      <Stack gap="xs">
        <Group gap="xs" wrap="nowrap" align="flex-start">
          <Icon
            size={20}
            color={`var(--mantine-color-${color}-filled)`}
            style={{ flex: 'none' }}
            aria-hidden
          />
          <Text fw={600}>{sentence}</Text>
        </Group>
        <Text size="sm">{t(`explain.rule.${data.rule}`)}</Text>
        {data.rule === 'barred' && <Text size="sm">{data.detail}</Text>}
        <Grounds groups={data.groups} grants={data.grants} />
      </Stack>
    </Paper>
  );
}

interface GroundsProperties {
  groups: { id: string; name: string }[];
  grants: { principal_type: string; principal_id: string; permission: string }[];
}

function Grounds({ groups, grants }: GroundsProperties) {
  const { t } = useTranslation('admin');
  const names = useNames(
    grants.flatMap(({ principal_type: type, principal_id: id }) =>
      type === 'user' || type === 'group' ? [{ type, id }] : [],
    ),
  );
  if (groups.length + grants.length === 0) return null;
  const receiver = (id: string) => (id === '*' ? t('common:grants.everyone') : (names.get(id) ?? id));
  return (
    <List size="sm">
      {groups.map(({ id, name }) => (
        <List.Item key={id}>
          {t('explain.group')}{' '}
          <AnchorTo to="/admin/groups/$groupId" params={{ groupId: id }} inherit underline="always">
            {name}
          </AnchorTo>
        </List.Item>
      ))}
      {grants.map(({ principal_id: id, permission }) => (
        <List.Item key={`${id} ${permission}`}>
          {t('explain.grant', { right: t(`explain.rights.${permission}`), name: receiver(id) })}
        </List.Item>
      ))}
    </List>
  );
}
