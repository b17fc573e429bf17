import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../../api/query.ts';
import { type FieldProperties, shared } from '../field.ts';

/** A group by its name; the setting holds its id. */
export default function GroupField(properties: FieldProperties) {
  const { t } = useTranslation('config');
  const { data: groups = [] } = useQuery(trpc.groups.list.queryOptions({}));
  const value = typeof properties.value === 'string' ? properties.value : '';
  const isKnown = value === '' || groups.some(({ id }) => id === value);
  return (
    <Select
      {...shared(properties)}
      data={[
        { value: '', label: t('field.noGroup') },
        ...groups.map(({ id, name }) => ({ value: id, label: name })),
        ...(isKnown ? [] : [{ value, label: value }]),
      ]}
      value={value}
      searchable
      allowDeselect={false}
      onChange={(chosen) => properties.onChange(chosen ?? '')}
    />
  );
}
