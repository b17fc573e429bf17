import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../api/query.ts';
import { ErrorNote } from '../ui/ErrorNote.tsx';

export function PasswordForm({ onSignedIn }: { onSignedIn(): Promise<void> }) {
  const { t } = useTranslation('entrance');
  const form = useForm({ initialValues: { email: '', password: '' } });
  const signIn = useMutation(
    trpc.auths.signIn.mutationOptions({ meta: { showsError: true }, onSuccess: onSignedIn }),
  );
  return (
    <form onSubmit={form.onSubmit((values) => signIn.mutate(values))}>
      <Stack gap="sm">
        <ErrorNote error={signIn.error} />
        <TextInput
          label={t('email')}
          type="email"
          autoComplete="username"
          required
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
  );
}
