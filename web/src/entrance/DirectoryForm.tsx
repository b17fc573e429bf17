import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../api/query.ts';
import { ErrorNote } from '../ui/ErrorNote.tsx';

/** Sign-in by the name and password of the directory (LDAP). */
export function DirectoryForm({ onSignedIn }: { onSignedIn(): Promise<void> }) {
  const { t } = useTranslation('entrance');
  const form = useForm({ initialValues: { user: '', password: '' } });
  const signIn = useMutation(
    trpc.ldap.signIn.mutationOptions({ meta: { showsError: true }, onSuccess: onSignedIn }),
  );
  return (
    <form onSubmit={form.onSubmit((values) => signIn.mutate(values))}>
      <Stack gap="sm">
        <ErrorNote error={signIn.error} />
        <TextInput label={t('userName')} autoComplete="username" required {...form.getInputProps('user')} />
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
