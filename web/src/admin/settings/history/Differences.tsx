import { ScrollArea, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { ValueText } from '../ValueText.tsx';
import type { Difference } from './compare.ts';

interface Properties {
  items: Difference[];
  /** Said when there is none. */
  empty: string;
}

/** Values before and after, side by side. */
export function Differences({ items, empty }: Properties) {
  const { t } = useTranslation('config');
  if (items.length === 0) return <Text c="dimmed">{empty}</Text>;
  return (
    <ScrollArea.Autosize mah="60vh" type="auto" viewportProps={{ tabIndex: 0 }}>
      <Table verticalSpacing={6} fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('history.setting')}</Table.Th>
            <Table.Th>{t('history.before')}</Table.Th>
            <Table.Th>{t('history.after')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map(({ path, before, after }) => (
            <Table.Tr key={path}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                <Text size="xs" ff="monospace">
                  {path}
                </Text>
              </Table.Td>
              <Table.Td>
                <ValueText value={before} />
              </Table.Td>
              <Table.Td>
                <ValueText value={after} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea.Autosize>
  );
}
