import { ActionIcon, Group, Text } from '@mantine/core';
import type { Outputs } from '@parley/client';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { dateOfSeconds, formatDate } from '../../base/time.ts';
import { useNames } from '../../ui/grants/principals.ts';
import { AnchorTo } from '../../ui/links.tsx';
import type { Column } from '../../ui/list/DataTable.tsx';

export type Entry = Outputs['audit']['list']['entries'][number];

/** The name of the object, where the entry itself has it. */
function nameIn({ before, after, actor_id, actor_email, target_id }: Entry): string | null {
  const name = [after, before].map((values) => values?.name).find((value) => typeof value === 'string');
  if (typeof name === 'string') return name;
  return actor_id !== null && actor_id === target_id ? actor_email : null;
}

interface Folding {
  isOpen(id: string): boolean;
  toggle(id: string): void;
}

export function useAuditColumns({ isOpen, toggle }: Folding): Column<Entry>[] {
  const { t } = useTranslation('admin');
  const nameOf = useActionName();
  return [
    {
      key: 'details',
      label: t('audit.details'),
      hidesLabel: true,
      width: 40,
      render: ({ id, action }) => (
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-expanded={isOpen(id)}
          aria-label={t('audit.detailsOf', { action: nameOf(action) })}
          onClick={() => toggle(id)}
        >
          {isOpen(id) ? <ChevronDown size={16} aria-hidden /> : <ChevronRight size={16} aria-hidden />}
        </ActionIcon>
      ),
    },
    {
      key: 'time',
      label: t('audit.time'),
      width: 165,
      render: ({ created_at }) => (
        <Text size="sm">
          {formatDate(dateOfSeconds(created_at), { dateStyle: 'short', timeStyle: 'medium' })}
        </Text>
      ),
    },
    {
      key: 'action',
      label: t('audit.action'),
      render: ({ action }) => <Text size="sm">{nameOf(action)}</Text>,
    },
    { key: 'actor', label: t('audit.actor'), isWide: true, render: (entry) => <Actor entry={entry} /> },
    { key: 'target', label: t('audit.target'), isWide: true, render: (entry) => <Target entry={entry} /> },
    {
      key: 'ip',
      label: t('audit.address'),
      width: 120,
      isWide: true,
      render: ({ ip }) => <Text size="sm">{ip}</Text>,
    },
  ];
}

/** The words of an action; the action itself where the page has none. */
export function useActionName(): (action: string) => string {
  const { t } = useTranslation('admin');
  return (action) => t(`audit.actions.${action}`, { defaultValue: action });
}

export function Actor({ entry: { actor_id, actor_email, credential } }: { entry: Entry }) {
  const { t } = useTranslation('admin');
  if (actor_id === null) {
    const who = credential === 'command' ? t('audit.shell') : t('audit.noAccount');
    return (
      <Text size="sm" c="dimmed">
        {who}
      </Text>
    );
  }
  return (
    <AnchorTo
      to="/admin/people/$userId"
      params={{ userId: actor_id }}
      size="sm"
      truncate
      display="block"
      title={actor_email ?? actor_id}
    >
      {actor_email ?? actor_id}
    </AnchorTo>
  );
}

/** The object of an entry, with a link where it has a view here. */
export function Target({ entry }: { entry: Entry }) {
  const { target_type: type, target_id: id } = entry;
  const written = nameIn(entry);
  const names = useNames(id && !written && (type === 'user' || type === 'group') ? [{ type, id }] : []);
  if (type === null) return null;
  const label = written ?? names.get(id ?? '') ?? id ?? '';
  return (
    <Group gap={6} wrap="nowrap">
      <Text size="xs" c="dimmed" span style={{ flex: 'none' }}>
        {type}
      </Text>
      {type === 'user' && id ? (
        <AnchorTo to="/admin/people/$userId" params={{ userId: id }} size="sm" truncate title={label}>
          {label}
        </AnchorTo>
      ) : type === 'group' && id ? (
        <AnchorTo to="/admin/groups/$groupId" params={{ groupId: id }} size="sm" truncate title={label}>
          {label}
        </AnchorTo>
      ) : (
        <Text size="sm" truncate title={label}>
          {label}
        </Text>
      )}
    </Group>
  );
}
