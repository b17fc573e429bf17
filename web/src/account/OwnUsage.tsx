import { Group, Progress, Stack, Table, Text, Title } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { ChartColumn } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../api/query.ts';
import { dateOfSeconds, dayAndTime } from '../base/time.ts';
import { Empty } from '../ui/Empty.tsx';
import { Page } from '../ui/Page.tsx';

const KINDS = ['requests', 'tokens', 'cost'] as const;

/** What the person has used of the models, and what limits leave. */
export function OwnUsage() {
  const { t, i18n } = useTranslation('account');
  const { data: days } = useSuspenseQuery(trpc.usage.own.queryOptions({ by: 'model' }));
  const number = new Intl.NumberFormat(i18n.language);
  return (
    <Page title={t('usage.title')} wide>
      <Limits />
      {days.items.length === 0 ? (
        <Empty icon={<ChartColumn size={32} aria-hidden />} title={t('usage.empty')}>
          {t('usage.emptyHint')}
        </Empty>
      ) : (
        <Table.ScrollContainer minWidth={560}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('usage.day')}</Table.Th>
                <Table.Th>{t('usage.model')}</Table.Th>
                <Table.Th ta="end">{t('usage.calls')}</Table.Th>
                <Table.Th ta="end">{t('usage.tokensIn')}</Table.Th>
                <Table.Th ta="end">{t('usage.tokensOut')}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {days.items.map(({ day, key, name, calls, tokens_in, tokens_out }) => (
                <Table.Tr key={`${day} ${key}`}>
                  <Table.Td>{day}</Table.Td>
                  <Table.Td>{name ?? key}</Table.Td>
                  <Table.Td ta="end">{number.format(calls)}</Table.Td>
                  <Table.Td ta="end">{number.format(tokens_in)}</Table.Td>
                  <Table.Td ta="end">{number.format(tokens_out)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Page>
  );
}

function Limits() {
  const { t, i18n } = useTranslation('account');
  const { data } = useSuspenseQuery(trpc.usage.limits.queryOptions());
  const number = new Intl.NumberFormat(i18n.language);
  const rows = data.items.flatMap(({ whom, per, resets_at, ...limits }) =>
    KINDS.flatMap((kind) => (limits[kind] ? [{ whom, per, kind, resets_at, ...limits[kind] }] : [])),
  );
  if (rows.length === 0) return null;
  return (
    <Stack gap="sm" mb="xl" maw={560}>
      <Title order={2} size="h4">
        {t('usage.limits')}
      </Title>
      {rows.map(({ whom, per, kind, used, most, resets_at }) => {
        const label = t(`usage.${kind}`, { per: t(`usage.per.${per}`) });
        return (
          <div key={`${whom} ${per} ${kind}`}>
            <Group justify="space-between">
              <Text size="sm">{label}</Text>
              <Text size="sm" c="dimmed">
                {t('usage.of', { used: number.format(used), most: number.format(most) })}
              </Text>
            </Group>
            <Progress
              value={most === 0 ? 100 : Math.min(100, (100 * used) / most)}
              aria-label={label}
              color={used >= most ? 'red' : undefined}
            />
            <Text size="xs" c="dimmed">
              {t('usage.resets', { time: dayAndTime(dateOfSeconds(resets_at)) })}
            </Text>
          </div>
        );
      })}
    </Stack>
  );
}
