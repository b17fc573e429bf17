import { Alert, Badge, Button, Group, List, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { api } from '../api/client.ts';
import { trpc } from '../api/query.ts';
import { describeAgent } from '../base/agent.ts';
import { ErrorNote } from '../ui/ErrorNote.tsx';
import { canPush, startPush, stopPush } from './push.ts';

/** Notifications while the page is closed, for the browsers of the person. */
export function WebPush() {
  const { t } = useTranslation('account');
  const queryClient = useQueryClient();
  const { data: browsers } = useSuspenseQuery(trpc.push.list.queryOptions());
  const options = {
    meta: { showsError: true },
    onSettled: () => queryClient.invalidateQueries(trpc.push.list.queryFilter()),
  };
  const start = useMutation({ mutationFn: startPush, ...options });
  const stop = useMutation({
    async mutationFn({ id, is_current }: { id: string; is_current: boolean }) {
      await api.push.unsubscribe.mutate({ id });
      if (is_current) await stopPush();
    },
    ...options,
  });
  return (
    <Stack gap="sm">
      <Title order={2} size="h4">
        {t('push.title')}
      </Title>
      <Text c="dimmed">{t('push.hint')}</Text>
      <ErrorNote error={start.error ?? stop.error} />
      {!canPush && <Alert color="yellow">{t('push.unknown')}</Alert>}
      {canPush && !browsers.some(({ is_current }) => is_current) && (
        <Group>
          <Button loading={start.isPending} onClick={() => start.mutate()}>
            {t('push.start')}
          </Button>
        </Group>
      )}
      <List listStyleType="none" spacing="xs">
        {browsers.map(({ id, user_agent, is_current }) => (
          <List.Item key={id} styles={{ itemWrapper: { width: '100%' }, itemLabel: { width: '100%' } }}>
            <Group justify="space-between">
              <Group gap="xs">
                <Text>{describeAgent(user_agent) || t('security.unknownAgent')}</Text>
                {is_current && <Badge variant="light">{t('security.thisBrowser')}</Badge>}
              </Group>
              <Button variant="subtle" color="red" size="xs" onClick={() => stop.mutate({ id, is_current })}>
                {t('push.stop')}
              </Button>
            </Group>
          </List.Item>
        ))}
      </List>
    </Stack>
  );
}
