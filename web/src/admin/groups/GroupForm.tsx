import { Button, NativeSelect, Group as Row, Stack, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { type Group, SHARES, shareOf, withShare } from './group.ts';

interface Properties {
  /** Missing for a new group. */
  group?: Group;
  submit: string;
  isBusy: boolean;
  error: unknown;
  onSubmit(values: Pick<Group, 'name' | 'description' | 'data'>): void;
  /** Shown beside the button. */
  aside?: ReactNode;
}

export function GroupForm({ group, submit, isBusy, error, onSubmit, aside }: Properties) {
  const { t } = useTranslation('admin');
  const form = useForm({
    initialValues: {
      name: group?.name ?? '',
      description: group?.description ?? '',
      share: group ? shareOf(group) : SHARES[0],
    },
  });
  return (
    <form
      onSubmit={form.onSubmit(({ name, description, share }) =>
        onSubmit({ name, description, data: withShare(group?.data ?? {}, share) }),
      )}
    >
      <Stack gap="sm">
        <ErrorNote error={error} />
        <TextInput label={t('groups.name')} required maxLength={256} {...form.getInputProps('name')} />
        <Textarea
          label={t('groups.description')}
          autosize
          minRows={2}
          {...form.getInputProps('description')}
        />
        <NativeSelect
          label={t('groups.share')}
          description={t('groups.shareHint')}
          data={SHARES.map((value) => ({ value, label: t(`groups.shares.${value}`) }))}
          {...form.getInputProps('share')}
        />
        <Row gap="xs">
          <Button type="submit" loading={isBusy}>
            {submit}
          </Button>
          {aside}
        </Row>
      </Stack>
    </form>
  );
}
