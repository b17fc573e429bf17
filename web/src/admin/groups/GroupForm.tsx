import { NativeSelect, Select, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { Form } from '../../ui/form/Form.tsx';
import { useStoredForm } from '../../ui/form/useStoredForm.ts';
import { type Group, possibleParents, SHARES, shareOf, withShare } from './group.ts';

type Fields = Pick<Group, 'name' | 'description' | 'parent_group_id' | 'data'>;

interface Properties {
  /** Missing for a new group. */
  group?: Group;
  submit: string;
  /** The mutation that `onSubmit` calls. */
  call: { error: unknown; isPending: boolean };
  /** `changes` has only the fields that the person changed. */
  onSubmit(fields: Fields, changes: Partial<Fields>): void;
}

export function GroupForm({ group, submit, call, onSubmit }: Properties) {
  const { t } = useTranslation('admin');
  const { form, changesIn } = useStoredForm({
    name: group?.name ?? '',
    description: group?.description ?? '',
    parent_group_id: group?.parent_group_id ?? null,
    share: group ? shareOf(group) : SHARES[0],
  });
  const save = form.onSubmit((values) => {
    const data = withShare(group?.data ?? {}, values.share);
    const { share, ...changes } = changesIn(values);
    const { share: _share, ...fields } = values;
    onSubmit({ ...fields, data }, { ...changes, ...(share && { data }) });
  });
  return (
    <Form call={call} submit={submit} onSubmit={save}>
      <TextInput label={t('groups.name')} required maxLength={256} {...form.getInputProps('name')} />
      <Textarea label={t('groups.description')} autosize minRows={2} {...form.getInputProps('description')} />
      <ParentField
        id={group?.id}
        value={form.values.parent_group_id}
        onChange={(parent) => form.setFieldValue('parent_group_id', parent)}
        error={form.errors.parent_group_id}
      />
      <NativeSelect
        label={t('groups.share')}
        description={t('groups.shareHint')}
        data={SHARES.map((value) => ({ value, label: t(`groups.shares.${value}`) }))}
        {...form.getInputProps('share')}
      />
    </Form>
  );
}

interface ParentProperties {
  /** The group whose parent is chosen; undefined for a new one. */
  id: string | undefined;
  value: string | null;
  onChange(value: string | null): void;
  error: ReactNode;
}

function ParentField({ id, value, onChange, error }: ParentProperties) {
  const { t } = useTranslation('admin');
  const { data: groups = [] } = useQuery(trpc.groups.list.queryOptions({}));
  return (
    <Select
      label={t('groups.parent')}
      description={t('groups.parentHint')}
      searchable
      allowDeselect={false}
      nothingFoundMessage={t('explain.nothingFound')}
      data={[
        { value: '', label: t('groups.noParent') },
        ...possibleParents(groups, id).map((group) => ({ value: group.id, label: group.name })),
      ]}
      value={value ?? ''}
      onChange={(chosen) => onChange(chosen || null)}
      error={error}
    />
  );
}
