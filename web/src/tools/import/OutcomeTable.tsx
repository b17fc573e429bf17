import { Badge, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { AnchorTo } from '../../ui/links.tsx';
import type { Outcome } from './read.ts';

const COLORS = { stored: 'teal', storable: 'blue', refused: 'red' } as const;

/** What became of each tool of an import, or would become of it. */
export function OutcomeTable({ items }: { items: Outcome[] }) {
  const { t } = useTranslation('tools');
  return (
    <Table.ScrollContainer minWidth={420}>
      <Table verticalSpacing={6} aria-label={t('import.outcomes')}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('import.tool')}</Table.Th>
            <Table.Th>{t('import.outcome')}</Table.Th>
            <Table.Th>{t('import.reason')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {items.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
            <Table.Tr key={index}>
              <Table.Td>
                {item.outcome === 'stored' && item.id ? (
                  <AnchorTo to="/tools/$toolId" params={{ toolId: item.id }} size="sm">
                    {item.name ?? item.id}
                  </AnchorTo>
                ) : (
                  (item.name ?? item.id ?? t('import.nameless'))
                )}
              </Table.Td>
              <Table.Td>
                <Badge variant="dot" color={COLORS[item.outcome]} tt="none">
                  {t(`import.outcomeOf.${item.outcome}`)}
                </Badge>
              </Table.Td>
              <Table.Td>
                <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                  {[item.reason, ...(item.warnings ?? [])].filter(Boolean).join(' ')}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
