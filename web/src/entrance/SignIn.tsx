import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { trpc } from '../api/query.ts';
import { useConfig, useSessionChange } from '../api/session.ts';
import { ErrorNote } from '../ui/ErrorNote.tsx';
import { AnchorTo } from '../ui/links.tsx';
import { EntranceFrame } from './EntranceFrame.tsx';

export function SignIn() {
  const { t } = useTranslation('entrance');
  const { features } = useConfig();
  const { to } = useSearch({ from: '/sign-in' });
  const router = useRouter();
  const changeSession = useSessionChange();
  const form = useForm({ initialValues: { email: '', password: '' } });
  const signIn = useMutation(
    trpc.auths.signIn.mutationOptions({
      meta: { showsError: true },
      async onSuccess() {
        await changeSession();
        router.history.push(to ?? '/');
      },
    }),
  );
  return (
    <EntranceFrame
      title={t('signIn.title')}
      foot={
        features.enable_signup && (
          <AnchorTo to="/sign-up" search={to ? { to } : {}}>
            {t('signIn.toSignUp')}
          </AnchorTo>
        )
      }
    >
      <form onSubmit={form.onSubmit((values) => signIn.mutate(values))}>
        <Stack gap="sm">
          <ErrorNote error={signIn.error} />
          <TextInput
            label={t('email')}
            type="email"
            autoComplete="username"
            required
            autoFocus
            {...form.getInputProps('email')}
          />
          <PasswordInput
            label={t('password')}
            autoComplete="current-password"
            required
            {...form.getInputProps('password')}
          />
          <Button type="submit" loading={signIn.isPending}>
            {t('signIn.submit')}
          </Button>
        </Stack>
      </form>
    </EntranceFrame>
  );
}
