import { Group, Select, Stack, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { Outputs } from '@parley/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../api/query.ts';
import { meQuery } from '../api/session.ts';
import { fieldErrors } from '../base/errors.ts';
import { notify } from '../base/notify.ts';
import { Form } from '../ui/form/Form.tsx';

/** After how many minutes a status ends by itself; 0: never. */
const ENDS = [0, 30, 60, 240, 1440, 10_080];

interface Properties {
  account: Outputs['profile']['status'];
}

export function StatusForm({ account }: Properties) {
  const { t } = useTranslation('account');
  const queryClient = useQueryClient();
  const form = useForm({
    initialValues: { emoji: account.status_emoji ?? '', message: account.status_message ?? '', minutes: '0' },
  });
  const update = useMutation(
    trpc.profile.updateStatus.mutationOptions({
      meta: { showsError: true },
      onError: (error) => form.setErrors(fieldErrors(error)),
      async onSuccess() {
        await Promise.all([
          queryClient.invalidateQueries(meQuery),
          queryClient.invalidateQueries(trpc.profile.status.queryFilter()),
        ]);
        void notify({ message: t('status.saved') });
      },
    }),
  );
  const save = form.onSubmit(({ emoji, message, minutes }) =>
    update.mutate({
      status_emoji: emoji || null,
      status_message: message || null,
      status_expires_at: minutes === '0' ? null : Math.floor(Date.now() / 1000) + Number(minutes) * 60,
    }),
  );
  return (
    <Stack gap="sm" mt="xl">
      <Title order={2} size="h4">
        {t('status.title')}
      </Title>
      <Form onSubmit={save} call={update} submit={t('status.set')} variant="default">
        <Group align="end" wrap="nowrap">
          <TextInput label={t('status.emoji')} w={88} maxLength={16} {...form.getInputProps('emoji')} />
          <TextInput label={t('status.message')} flex={1} {...form.getInputProps('message')} />
        </Group>
        <Select
          label={t('status.ends')}
          allowDeselect={false}
          data={ENDS.map((minutes) => ({ value: String(minutes), label: t(`status.after.${minutes}`) }))}
          {...form.getInputProps('minutes')}
        />
      </Form>
    </Stack>
  );
}
