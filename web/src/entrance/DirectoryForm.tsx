import { PasswordInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../api/query.ts';
import { Form } from '../ui/form/Form.tsx';

/** Sign-in by the name and password of the directory (LDAP). */
export function DirectoryForm({ onSignedIn }: { onSignedIn(): Promise<void> }) {
  const { t } = useTranslation('entrance');
  const form = useForm({ initialValues: { user: '', password: '' } });
  const signIn = useMutation(
    trpc.ldap.signIn.mutationOptions({ meta: { showsError: true }, onSuccess: onSignedIn }),
  );
  return (
    <Form
      onSubmit={form.onSubmit((values) => signIn.mutate(values))}
      call={signIn}
      submit={t('signIn.submit')}
      button="wide"
    >
      <TextInput label={t('userName')} autoComplete="username" required {...form.getInputProps('user')} />
      <PasswordInput
        label={t('password')}
        autoComplete="current-password"
        required
        {...form.getInputProps('password')}
      />
    </Form>
  );
}
