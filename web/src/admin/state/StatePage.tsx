import { Alert, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { CircleAlert, CircleCheck, CircleX } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { type Column, DataTable } from '../../ui/list/DataTable.tsx';
import { Page } from '../../ui/Page.tsx';
import { Part } from '../../ui/Part.tsx';
import { ProviderStates } from './ProviderStates.tsx';
import { type PartRow, readyQuery } from './ready.ts';
import { StateBadge } from './StateBadge.tsx';

export function StatePage() {
  const { t } = useTranslation('admin');
  const { data, error, refetch, isError } = useQuery(readyQuery);
  const columns: Column<PartRow>[] = [
    { key: 'name', label: t('state.part'), render: (part) => <PartName {...part} /> },
    {
      key: 'state',
      label: t('state.state'),
      width: 144,
      render: ({ state }) => <StateBadge state={state} />,
    },
    {
      key: 'detail',
      label: t('state.detail'),
      width: '60%',
      isWide: true,
      render: ({ detail }) => <Text size="sm">{detail}</Text>,
    },
  ];
  return (
    <Page title={t('section.state')} wide>
      <Stack gap="xl" maw={960}>
        {isError ? (
          <ErrorNote error={error} onRetry={refetch} />
        ) : (
          <Summary
            isReady={data?.isReady}
            hasFaults={data?.parts.some(({ state }) => state !== 'ok') ?? false}
          />
        )}
        <Part title={t('state.parts')} hint={t('state.partsHint')}>
          <DataTable
            label={t('state.parts')}
            columns={columns}
            rows={data?.parts}
            keyOf={({ name }) => name}
            empty={null}
          />
        </Part>
        <ProviderStates />
        <Figures />
      </Stack>
    </Page>
  );
}

function Summary({ isReady, hasFaults }: { isReady: boolean | undefined; hasFaults: boolean }) {
  const { t } = useTranslation('admin');
  if (isReady === undefined) return <Skeleton height={46} />;
  const summary = isReady ? (hasFaults ? 'degraded' : 'ready') : 'down';
  const Icon = { ready: CircleCheck, degraded: CircleAlert, down: CircleX }[summary];
  return (
    <Alert
      role="status"
      variant="light"
      color={{ ready: 'green', degraded: 'yellow', down: 'red' }[summary]}
      icon={<Icon size={18} aria-hidden />}
    >
      {t(`state.summary.${summary}`)}
    </Alert>
  );
}

/** The name of a part; parts that the page does not know keep the server's word. */
function PartName({ name, detail }: PartRow) {
  const { t } = useTranslation('admin');
  return (
    <>
      <Text size="sm" fw={500}>
        {t(`state.partNames.${name}`, { defaultValue: name })}
      </Text>
      <Text size="xs" c="dimmed" hiddenFrom="sm">
        {detail}
      </Text>
    </>
  );
}

/** The version, how many people are active, and where to read more. */
function Figures() {
  const { t } = useTranslation('admin');
  const version = useQuery(trpc.configs.version.queryOptions());
  const active = useQuery(trpc.people.usage.queryOptions(undefined, { refetchInterval: 30_000 }));
  const figures = [
    { label: t('state.version'), value: version.data?.version },
    { label: t('state.installation'), value: version.data?.deployment_id },
    { label: t('state.active'), value: active.data?.user_count },
    { label: t('state.docs'), value: t('state.docsFiles') },
  ];
  return (
    <Part title={t('state.about')}>
      <SimpleGrid component="dl" cols={{ base: 1, sm: 2 }} spacing="md" m={0}>
        {figures.map(({ label, value }) => (
          <div key={label}>
            <Text component="dt" size="xs" c="dimmed">
              {label}
            </Text>
            <Text component="dd" size="sm" m={0} mih={20} style={{ overflowWrap: 'anywhere' }}>
              {value}
            </Text>
          </div>
        ))}
      </SimpleGrid>
    </Part>
  );
}
