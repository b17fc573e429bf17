import { Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useNameOf, useNumbers } from './names.ts';
import { type By, type Measure, type Sum, totals } from './usage.ts';

const COLUMNS = ['calls', 'failed', 'tokens_in', 'tokens_cached', 'tokens_out', 'cost'] as const;
const MOST_ROWS = 200;

interface Properties {
  sums: Sum[];
  measure: Measure;
  by: By;
}

/** The sums of the whole period; the largest first. */
export function UsageTable({ sums, measure, by }: Properties) {
  const { t } = useTranslation('config');
  const nameOf = useNameOf(by);
  const number = useNumbers();
  const rows = totals(sums, measure);
  return (
    <>
      <Table.ScrollContainer minWidth={640}>
        <Table verticalSpacing={6} fz="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t(`usage.byName.${by}`)}</Table.Th>
              {COLUMNS.map((column) => (
                <Table.Th key={column} ta="end">
                  {t(`usage.column.${column}`)}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.slice(0, MOST_ROWS).map((sum) => (
              <Table.Tr key={sum.key}>
                <Table.Td>{nameOf(sum)}</Table.Td>
                {COLUMNS.map((column) => (
                  <Table.Td key={column} ta="end" style={{ fontVariantNumeric: 'tabular-nums' }}>
                    {number(sum[column])}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {rows.length > MOST_ROWS && (
        <Text size="sm" c="dimmed">
          {t('usage.moreRows', { count: rows.length - MOST_ROWS })}
        </Text>
      )}
    </>
  );
}
