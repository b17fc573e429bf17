import { Group, NativeSelect, Select, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { Explanation, type Question } from '../../ui/grants/Explanation.tsx';
import { PrincipalPicker } from '../../ui/grants/PrincipalPicker.tsx';
import { Person } from '../../ui/Person.tsx';
import { usePermissions } from './words.ts';

const KINDS = ['permission', 'channel', 'tool', 'model'] as const;
type Kind = (typeof KINDS)[number];

/** Asks why an account may do a thing or not. The answer comes as soon as the question is whole. */
export function ExplainForm({ firstUserId }: { firstUserId?: string | undefined }) {
  const { t } = useTranslation('admin');
  const [userId, setUserId] = useState(firstUserId);
  const [kind, setKind] = useState<Kind>('permission');
  const [thing, setThing] = useState<{ id: string; label: string } | null>(null);
  const [right, setRight] = useState<'read' | 'write'>('read');
  const question: Question | null = userId && thing ? { userId, kind, right, ...thing } : null;
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {t('explain.hint')}
      </Text>
      <PrincipalPicker
        label={t('explain.person')}
        placeholder={t('people.searchHint')}
        kinds={['user']}
        onPick={({ id }) => setUserId(id)}
      />
      {userId && <Chosen id={userId} />}
      <Group grow align="flex-end" preventGrowOverflow={false}>
        <NativeSelect
          label={t('explain.kind')}
          value={kind}
          data={KINDS.map((value) => ({ value, label: t(`explain.kinds.${value}`) }))}
          onChange={({ currentTarget: { value } }) => {
            setKind(value as Kind);
            setThing(null);
          }}
        />
        {kind !== 'permission' && (
          <NativeSelect
            label={t('explain.right')}
            value={right}
            data={(['read', 'write'] as const).map((value) => ({
              value,
              label: t(`explain.rights.${value}`),
            }))}
            onChange={({ currentTarget: { value } }) => setRight(value as 'read' | 'write')}
          />
        )}
      </Group>
      <ThingSelect key={kind} kind={kind} value={thing?.id ?? null} onChange={setThing} />
      <div aria-live="polite">{question && <Explanation question={question} />}</div>
    </Stack>
  );
}

function Chosen({ id }: { id: string }) {
  const { data } = useQuery(trpc.people.info.queryOptions({ id }));
  return (
    <Group gap="xs" mih={24}>
      <Person id={id} name={data?.name ?? ''} size={24} />
      <Text size="sm">{data?.name}</Text>
      <Text size="sm" c="dimmed">
        {data?.email}
      </Text>
    </Group>
  );
}

interface ThingProperties {
  kind: Kind;
  value: string | null;
  onChange(thing: { id: string; label: string } | null): void;
}

function ThingSelect({ kind, value, onChange }: ThingProperties) {
  const { t } = useTranslation('admin');
  const things = useThings(kind);
  return (
    <Select
      label={t(`explain.which.${kind}`)}
      data={things}
      value={value}
      searchable
      limit={100}
      nothingFoundMessage={t('explain.nothingFound')}
      onChange={(id, option) => onChange(id && option ? { id, label: String(option.label) } : null)}
    />
  );
}

/** What may be asked about. Administrators see all channels but the direct ones of others, and all tools and models. */
function useThings(kind: Kind): { value: string; label: string }[] {
  const builtIn = useQuery(
    trpc.permissions.builtIn.queryOptions(undefined, { enabled: kind === 'permission' }),
  );
  const channels = useQuery(trpc.channels.listAll.queryOptions(undefined, { enabled: kind === 'channel' }));
  const tools = useQuery(trpc.tools.list.queryOptions(undefined, { enabled: kind === 'tool' }));
  const models = useQuery(trpc.models.list.queryOptions({}, { enabled: kind === 'model' }));
  const permissions = usePermissions(builtIn.data ?? {});
  if (kind === 'permission') {
    return permissions.map(({ section, leaf, label }) => ({ value: `${section}.${leaf}`, label }));
  }
  const named = { channel: channels.data, tool: tools.data, model: models.data?.data }[kind] ?? [];
  return named.map(({ id, name }) => ({ value: id, label: name || id }));
}
