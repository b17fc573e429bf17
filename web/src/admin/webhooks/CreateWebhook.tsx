import { Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { addressOf } from '../../base/webhook.ts';
import { Form } from '../../ui/form/Form.tsx';
import { AddressField } from './AddressField.tsx';

interface Properties {
  opened: boolean;
  onClose(): void;
}

export function CreateWebhook({ opened, onClose }: Properties) {
  const { t } = useTranslation('admin');
  return (
    <Modal opened={opened} onClose={onClose} title={t('webhooks.create')}>
      <CreateForm onDone={onClose} />
    </Modal>
  );
}

/** Asks for a channel and a name, then shows the address. */
function CreateForm({ onDone }: { onDone(): void }) {
  const { t } = useTranslation('admin');
  const queryClient = useQueryClient();
  const { data: channels } = useQuery(trpc.channels.listAll.queryOptions());
  const form = useForm({ initialValues: { id: '', name: '' } });
  const create = useMutation(
    trpc.webhooks.create.mutationOptions({
      meta: { showsError: true },
      onSuccess: () => queryClient.invalidateQueries(trpc.webhooks.pathFilter()),
    }),
  );
  if (create.data) {
    return (
      <Stack>
        <AddressField address={addressOf(create.data)} />
        <Group justify="flex-end">
          <Button onClick={onDone}>{t('common:action.close')}</Button>
        </Group>
      </Stack>
    );
  }
  return (
    <Form
      onSubmit={form.onSubmit((values) => create.mutate(values))}
      call={create}
      submit={t('webhooks.create')}
      button="end"
    >
      <Select
        label={t('webhooks.channel')}
        required
        searchable
        limit={100}
        nothingFoundMessage={t('explain.nothingFound')}
        data={(channels ?? []).map(({ id, name }) => ({ value: id, label: name || t('webhooks.unnamed') }))}
        {...form.getInputProps('id')}
      />
      <TextInput
        label={t('people.name')}
        description={t('webhooks.nameHint')}
        required
        {...form.getInputProps('name')}
      />
    </Form>
  );
}
