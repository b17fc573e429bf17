import { MultiSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import type { UseModelForm } from './useModelForm.ts';

export function ToolsField({ form }: { form: UseModelForm }) {
  const { t } = useTranslation('models');
  const { data = [] } = useQuery(trpc.tools.list.queryOptions());
  const known = new Set(data.map(({ id }) => id));
  // Tools that the person may not read stay.
  const others = form.values.toolIds.filter((id) => !known.has(id));
  return (
    <MultiSelect
      label={t('field.tools')}
      description={t('field.toolsHint')}
      placeholder={form.values.toolIds.length === 0 ? t('field.noTools') : ''}
      searchable
      data={[
        ...data.map(({ id, name }) => ({ value: id, label: name })),
        ...others.map((id) => ({ value: id, label: id })),
      ]}
      nothingFoundMessage={t('list.nothing')}
      {...form.getInputProps('toolIds')}
    />
  );
}
