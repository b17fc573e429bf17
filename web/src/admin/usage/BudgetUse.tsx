import { Progress, Table, Text, Title } from '@mantine/core';
import type { Outputs } from '@parley/client';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { dateOfSeconds, dayAndTime } from '../../base/time.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { useNumbers } from './names.ts';

type Budget = Outputs['usage']['budgets']['items'][number];

const AMOUNTS = ['requests', 'tokens', 'cost'] as const;
const MOST = 200;

/** How much of each budget is used now, by whom; the largest share first. */
export function BudgetUse() {
  const { t } = useTranslation('config');
  const { data, error } = useQuery(trpc.usage.budgets.queryOptions({ limit: MOST }));
  return (
    <section aria-label={t('usage.ofBudgets')}>
      <Title order={2} size="h4">
        {t('usage.ofBudgets')}
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {t('usage.ofBudgetsHint')}
      </Text>
      <ErrorNote error={error} />
      {data?.items.length === 0 && <Text size="sm">{t('usage.noUse')}</Text>}
      {data && data.items.length > 0 && <BudgetTable budgets={data.items} />}
      {data?.items.length === MOST && (
        <Text size="sm" c="dimmed">
          {t('usage.moreBudgets', { count: MOST })}
        </Text>
      )}
    </section>
  );
}

function BudgetTable({ budgets }: { budgets: Budget[] }) {
  const { t } = useTranslation('config');
  const nameOf = useBudgetName();
  return (
    <Table.ScrollContainer minWidth={560}>
      <Table verticalSpacing={6} fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('usage.budget')}</Table.Th>
            <Table.Th>{t('limit.per')}</Table.Th>
            <Table.Th w="40%">{t('usage.used')}</Table.Th>
            <Table.Th>{t('usage.resets')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {budgets.map((budget) => (
            <Table.Tr key={`${budget.place} ${budget.subject} ${budget.user_id}`}>
              <Table.Td>{nameOf(budget)}</Table.Td>
              <Table.Td>{t(`limit.perName.${budget.per}`)}</Table.Td>
              <Table.Td>
                {AMOUNTS.map((kind) => {
                  const amount = budget[kind];
                  return amount && <Used key={kind} label={t(`limit.${kind}`)} {...amount} />;
                })}
              </Table.Td>
              <Table.Td>{dayAndTime(dateOfSeconds(budget.resets_at))}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** Whom or what a budget counts: the person, the group or model, or a person within one of them. */
function useBudgetName(): (budget: Budget) => string {
  const { t } = useTranslation('config');
  return ({ scope, subject, subject_name, user_id, user_name }) => {
    const person = user_id && (user_name ?? t('usage.deleted'));
    const shared = scope === 'all' ? t('limit.scopeName.all') : (subject_name ?? subject);
    if (scope === 'user') return person ?? '';
    if (scope === 'all') return person ? `${person} · ${shared}` : (shared ?? '');
    return `${person ?? t(`limit.scopeName.${scope}`)} · ${shared}`;
  };
}

function Used({ label, used, most }: { label: string; used: number; most: number }) {
  const { t } = useTranslation('config');
  const number = useNumbers();
  return (
    <>
      <Text size="xs">
        {label}: {t('usage.usedOf', { used: number(used), most: number(most) })}
      </Text>
      <Progress
        size="sm"
        value={most === 0 ? 100 : Math.min(100, (100 * used) / most)}
        color={used >= most ? 'red' : undefined}
        aria-label={label}
      />
    </>
  );
}
