import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import { useTranslation } from 'react-i18next';
import { formatDate } from '../../base/time.ts';
import { useNameOf, useNumbers } from './names.ts';
import { type By, daysOf, type Measure, measured, type Period, type Sum, totals } from './usage.ts';

/** More rows than this are one colour together. */
const MOST_SERIES = 6;
const COLORS = ['indigo.6', 'teal.6', 'orange.6', 'grape.6', 'cyan.6', 'pink.6'];
const OTHERS = 'others';

interface Properties {
  sums: Sum[];
  period: Period;
  measure: Measure;
  by: By;
}

/** A bar for each day, split by the largest rows. The table beside it has the same numbers for screen readers. */
export default function UsageChart({ sums, period, measure, by }: Properties) {
  const { t } = useTranslation('config');
  const nameOf = useNameOf(by);
  const number = useNumbers();
  const largest = totals(sums, measure);
  const shown = largest.slice(0, MOST_SERIES);
  // Keys of models hold dots, which the chart would read as a path.
  const seriesOf = (sum: Sum) => {
    const place = shown.findIndex(({ key }) => key === sum.key);
    return place === -1 ? OTHERS : `row${place}`;
  };
  const byDay = Map.groupBy(sums, ({ day }) => day);
  const data = daysOf(period).map((day) => {
    const row: Record<string, number | string> = { day: shortDay(day) };
    for (const sum of byDay.get(day) ?? []) {
      const series = seriesOf(sum);
      row[series] = Number(row[series] ?? 0) + measured(sum, measure);
    }
    return row;
  });
  return (
    <div role="img" aria-label={t('usage.chart', { measure: t(`usage.measureName.${measure}`) })}>
      <BarChart
        h={260}
        data={data}
        dataKey="day"
        type="stacked"
        withLegend
        legendProps={{ verticalAlign: 'bottom' }}
        valueFormatter={number}
        barProps={{ isAnimationActive: false }}
        series={[
          ...shown.map((sum, place) => ({
            name: `row${place}`,
            label: nameOf(sum),
            color: COLORS[place] ?? 'gray.6',
          })),
          ...(largest.length > MOST_SERIES
            ? [{ name: OTHERS, label: t('usage.others'), color: 'gray.5' }]
            : []),
        ]}
      />
    </div>
  );
}

const shortDay = (day: string) =>
  formatDate(new Date(`${day}T00:00:00Z`), { day: 'numeric', month: 'short', timeZone: 'UTC' });
