import { Badge, Button, Group, Stack, Table, Text, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../api/query.ts';
import { notify } from '../base/notify.ts';
import { dateOfSeconds, dayAndTime } from '../base/time.ts';
import { Form } from '../ui/form/Form.tsx';

const PAGE_ITEMS = 20;
const COLORS = { delivered: 'green', pending: 'yellow', failed: 'red' } as const;

/** An address of the person that is told of messages and mentions. */
export function OwnWebhook() {
  const { t } = useTranslation('account');
  const queryClient = useQueryClient();
  const { data: settings } = useSuspenseQuery(trpc.settings.get.queryOptions());
  const form = useForm({ initialValues: { url: addressIn(settings.ui) } });
  const update = useMutation(
    trpc.settings.update.mutationOptions({
      meta: { showsError: true },
      async onSuccess() {
        await queryClient.invalidateQueries(trpc.settings.get.queryFilter());
        void notify({ message: t('notifications.webhookSaved') });
      },
    }),
  );
  const save = form.onSubmit(({ url }) =>
    update.mutate({ settings: { ui: { notifications: { webhook_url: url.trim() } } } }),
  );
  return (
    <Stack gap="sm">
      <Title order={2} size="h4">
        {t('notifications.webhook')}
      </Title>
      <Form onSubmit={save} call={update} submit={t('common:action.save')}>
        <TextInput
          label={t('notifications.webhookUrl')}
          description={t('notifications.webhookHint')}
          type="url"
          placeholder="https://"
          {...form.getInputProps('url')}
        />
      </Form>
      <Deliveries />
    </Stack>
  );
}

function addressIn(ui: Record<string, unknown>): string {
  const { notifications: own } = ui as { notifications?: { webhook_url?: unknown } };
  return typeof own?.webhook_url === 'string' ? own.webhook_url : '';
}

function Deliveries() {
  const { t } = useTranslation('account');
  const queryClient = useQueryClient();
  const {
    data: deliveries,
    refetch,
    isRefetching,
  } = useSuspenseQuery(trpc.deliveries.list.queryOptions({ limit: PAGE_ITEMS }));
  const again = useMutation(
    trpc.deliveries.redeliver.mutationOptions({
      onSettled: () => queryClient.invalidateQueries(trpc.deliveries.list.queryFilter()),
    }),
  );
  // No event tells that a delivery has ended.
  const refresh = (
    <Group>
      <Button size="xs" variant="default" loading={isRefetching} onClick={() => void refetch()}>
        {t('common:action.refresh')}
      </Button>
    </Group>
  );
  if (deliveries.length === 0)
    return (
      <>
        <Text c="dimmed">{t('notifications.noDeliveries')}</Text>
        {refresh}
      </>
    );
  return (
    <>
      {refresh}
      <Table.ScrollContainer minWidth={480}>
        <Table aria-label={t('notifications.deliveries')}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('notifications.time')}</Table.Th>
              <Table.Th>{t('notifications.state')}</Table.Th>
              <Table.Th>{t('notifications.answer')}</Table.Th>
              <Table.Th aria-label={t('notifications.again')} />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {deliveries.map(({ id, created_at, status, response_status, error }) => (
              <Table.Tr key={id}>
                <Table.Td>{dayAndTime(dateOfSeconds(created_at))}</Table.Td>
                <Table.Td>
                  <Badge variant="light" color={COLORS[status]} autoContrast>
                    {t(`notifications.${status}`)}
                  </Badge>
                </Table.Td>
                <Table.Td>{error ?? response_status}</Table.Td>
                <Table.Td>
                  {status === 'failed' && (
                    <Button
                      size="compact-sm"
                      variant="default"
                      loading={again.isPending && again.variables.id === id}
                      onClick={() => again.mutate({ id })}
                    >
                      {t('notifications.again')}
                    </Button>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </>
  );
}
