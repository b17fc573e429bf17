import { Badge, Button, Group, List, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { trpc } from '../api/query.ts';
import { useSessionChange } from '../api/session.ts';
import { describeAgent } from '../base/agent.ts';
import { fieldErrors } from '../base/errors.ts';
import { notify } from '../base/notify.ts';
import { dateOfSeconds, dayAndTime } from '../base/time.ts';
import { Form } from '../ui/form/Form.tsx';
import { Page } from '../ui/Page.tsx';

export function Security() {
  const { t } = useTranslation('account');
  return (
    <Page title={t('security.title')}>
      <PasswordForm />
      <Sessions />
    </Page>
  );
}

function PasswordForm() {
  const { t } = useTranslation('account');
  const queryClient = useQueryClient();
  const form = useForm({ initialValues: { password: '', new_password: '' } });
  const change = useMutation(
    trpc.auths.changePassword.mutationOptions({
      meta: { showsError: true },
      onError: (error) => form.setErrors(fieldErrors(error)),
      async onSuccess() {
        form.reset();
        await queryClient.invalidateQueries(trpc.sessions.list.queryFilter());
        void notify({ message: t('security.changed') });
      },
    }),
  );
  return (
    <Stack gap="sm">
      <Title order={2} size="h4">
        {t('security.password')}
      </Title>
      <Text c="dimmed">{t('security.passwordHint')}</Text>
      <Form
        onSubmit={form.onSubmit((values) => change.mutate(values))}
        call={change}
        submit={t('security.change')}
      >
        <PasswordInput
          label={t('security.current')}
          required
          autoComplete="current-password"
          {...form.getInputProps('password')}
        />
        <PasswordInput
          label={t('security.next')}
          required
          autoComplete="new-password"
          {...form.getInputProps('new_password')}
        />
      </Form>
    </Stack>
  );
}

function Sessions() {
  const { t } = useTranslation('account');
  const navigate = useNavigate();
  const changeSession = useSessionChange();
  const queryClient = useQueryClient();
  const { data: sessions } = useSuspenseQuery(trpc.sessions.list.queryOptions());
  const others = sessions.filter(({ is_current }) => !is_current);
  const refresh = () => queryClient.invalidateQueries(trpc.sessions.list.queryFilter());
  const end = useMutation(trpc.sessions.end.mutationOptions({ onSettled: refresh }));
  const endAll = useMutation(
    trpc.sessions.endAll.mutationOptions({
      async onSuccess(_ended, { keep_current }) {
        if (keep_current) return refresh();
        await navigate({ to: '/sign-in' });
        await changeSession();
      },
    }),
  );
  return (
    <Stack gap="sm" mt="xl">
      <Group justify="space-between">
        <Title order={2} size="h4">
          {t('security.sessions')}
        </Title>
        <Group gap="xs">
          {others.length > 0 && (
            <Button variant="default" size="xs" onClick={() => endAll.mutate({ keep_current: true })}>
              {t('security.endOthers')}
            </Button>
          )}
          <Button
            variant="default"
            size="xs"
            title={t('security.everywhereHint')}
            onClick={() => endAll.mutate({})}
          >
            {t('security.everywhere')}
          </Button>
        </Group>
      </Group>
      <Text c="dimmed">{t('security.sessionsHint')}</Text>
      <List listStyleType="none" spacing="sm">
        {sessions.map(({ id, user_agent, ip, last_seen_at, is_current }) => (
          <List.Item key={id} styles={{ itemWrapper: { width: '100%' }, itemLabel: { width: '100%' } }}>
            <Group justify="space-between" wrap="nowrap">
              <div>
                <Group gap="xs">
                  <Text>{describeAgent(user_agent) || t('security.unknownAgent')}</Text>
                  {is_current && <Badge variant="light">{t('security.thisBrowser')}</Badge>}
                </Group>
                <Text size="sm" c="dimmed">
                  {t('security.seen', { ip, time: dayAndTime(dateOfSeconds(last_seen_at)) })}
                </Text>
              </div>
              {!is_current && (
                <Button variant="subtle" color="red" size="xs" onClick={() => end.mutate({ id })}>
                  {t('security.end')}
                </Button>
              )}
            </Group>
          </List.Item>
        ))}
      </List>
    </Stack>
  );
}
