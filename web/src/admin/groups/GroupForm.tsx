import { NativeSelect, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { Form } from '../../ui/form/Form.tsx';
import { type Group, SHARES, shareOf, withShare } from './group.ts';

interface Properties {
  /** Missing for a new group. */
  group?: Group;
  submit: string;
  /** The mutation that `onSubmit` calls. */
  call: { error: unknown; isPending: boolean };
  onSubmit(values: Pick<Group, 'name' | 'description' | 'data'>): void;
}

export function GroupForm({ group, submit, call, onSubmit }: Properties) {
  const { t } = useTranslation('admin');
  const form = useForm({
    initialValues: {
      name: group?.name ?? '',
      description: group?.description ?? '',
      share: group ? shareOf(group) : SHARES[0],
    },
  });
  return (
    <Form
      call={call}
      submit={submit}
      onSubmit={form.onSubmit(({ name, description, share }) =>
        onSubmit({ name, description, data: withShare(group?.data ?? {}, share) }),
      )}
    >
      <TextInput label={t('groups.name')} required maxLength={256} {...form.getInputProps('name')} />
      <Textarea label={t('groups.description')} autosize minRows={2} {...form.getInputProps('description')} />
      <NativeSelect
        label={t('groups.share')}
        description={t('groups.shareHint')}
        data={SHARES.map((value) => ({ value, label: t(`groups.shares.${value}`) }))}
        {...form.getInputProps('share')}
      />
    </Form>
  );
}
