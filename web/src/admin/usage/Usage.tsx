import { Button, Group, NativeSelect, SegmentedControl, Skeleton, Stack, Text } from '@mantine/core';
import { ChartColumn, Download } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { saveFile } from '../../base/files.ts';
import { Empty } from '../../ui/Empty.tsx';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { UsageTable } from './UsageTable.tsx';
import { type By, csvOf, type Measure, type Period, periodOf, type Sum, useUsage } from './usage.ts';

const UsageChart = lazy(() => import('./UsageChart.tsx'));
const PERIODS = [7, 30, 90];
const BYS: By[] = ['user', 'model', 'connection', 'kind', 'none'];
const MEASURES: Measure[] = ['tokens', 'calls', 'cost'];

/** The use of models in a period: by day as a chart, and summed up in a table. */
export function Usage() {
  const { t } = useTranslation('config');
  const [days, setDays] = useState(30);
  const [by, setBy] = useState<By>('model');
  const [measure, setMeasure] = useState<Measure>('tokens');
  const period = periodOf(days);
  const { data: sums, error } = useUsage(by, period);
  return (
    <Stack gap="md">
      <Group gap="sm" align="end">
        <NativeSelect
          size="xs"
          label={t('usage.period')}
          value={days}
          onChange={({ currentTarget }) => setDays(Number(currentTarget.value))}
          data={PERIODS.map((count) => ({ value: String(count), label: t('usage.days', { count }) }))}
        />
        <NativeSelect
          size="xs"
          label={t('usage.by')}
          value={by}
          onChange={({ currentTarget }) => setBy(currentTarget.value as By)}
          data={BYS.map((value) => ({ value, label: t(`usage.byName.${value}`) }))}
        />
        <SegmentedControl
          size="xs"
          aria-label={t('usage.measure')}
          value={measure}
          onChange={(value) => setMeasure(value as Measure)}
          data={MEASURES.map((value) => ({ value, label: t(`usage.measureName.${value}`) }))}
        />
        <DownloadButton sums={sums} period={period} by={by} />
      </Group>
      <ErrorNote error={error} />
      {!sums && !error && <Skeleton height={280} />}
      {sums?.length === 0 && (
        <Empty icon={<ChartColumn size={32} aria-hidden />} title={t('usage.empty')}>
          {t('usage.emptyHint')}
        </Empty>
      )}
      {sums && sums.length > 0 && (
        <>
          <Suspense fallback={<Skeleton height={280} />}>
            <UsageChart sums={sums} period={period} measure={measure} by={by} />
          </Suspense>
          <UsageTable sums={sums} measure={measure} by={by} />
        </>
      )}
      <Text size="xs" c="dimmed">
        {t('usage.utc')}
      </Text>
    </Stack>
  );
}

interface DownloadProperties {
  sums: Sum[] | undefined;
  period: Period;
  by: By;
}

function DownloadButton({ sums, period, by }: DownloadProperties) {
  const { t } = useTranslation('config');
  return (
    <Button
      size="xs"
      variant="default"
      ml="auto"
      leftSection={<Download size={14} aria-hidden />}
      disabled={!sums?.length}
      onClick={() =>
        sums && saveFile(`usage-${by}-${period.first}-${period.last}.csv`, csvOf(sums), 'text/csv')
      }
    >
      {t('usage.csv')}
    </Button>
  );
}
