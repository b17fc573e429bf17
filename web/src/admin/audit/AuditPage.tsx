import { Stack } from '@mantine/core';
import { useSearch } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { usePages } from '../../api/pages.ts';
import { trpc } from '../../api/query.ts';
import { Empty } from '../../ui/Empty.tsx';
import { DataTable } from '../../ui/list/DataTable.tsx';
import { Page } from '../../ui/Page.tsx';
import { AuditFilters } from './AuditFilters.tsx';
import { useAuditColumns } from './columns.tsx';
import { EntryDetails } from './EntryDetails.tsx';
import { type AuditSearch, inputOf } from './search.ts';

const PAGE_ROWS = 50;

export function AuditPage() {
  const { t } = useTranslation('admin');
  const search = useSearch({ from: '/shell/admin/audit' });
  const [openId, setOpenId] = useState<string | null>(null);
  const columns = useAuditColumns({
    isOpen: (id) => id === openId,
    toggle: (id) => setOpenId(id === openId ? null : id),
  });
  return (
    <Page title={t('section.audit')} wide>
      <Stack gap="md">
        <AuditFilters search={search} />
        <DataTable
          label={t('section.audit')}
          columns={columns}
          keyOf={({ id }) => id}
          empty={
            <Empty icon={<ScrollText size={32} aria-hidden />} title={t('audit.empty')}>
              {t('audit.emptyHint')}
            </Empty>
          }
          below={(entry) => (entry.id === openId ? <EntryDetails entry={entry} /> : null)}
          {...useEntries(search)}
        />
      </Stack>
    </Page>
  );
}

function useEntries(search: AuditSearch) {
  const input = { ...inputOf(search), limit: PAGE_ROWS };
  return usePages({
    queryKey: trpc.audit.list.queryKey(input),
    load: (cursor) => api.audit.list.query({ ...input, ...(cursor && { cursor }) }),
    rowsOf: ({ entries }) => entries,
    nextOf: ({ next }) => next,
  });
}
