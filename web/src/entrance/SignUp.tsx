import { PasswordInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { trpc } from '../api/query.ts';
import { useConfig, useSessionChange } from '../api/session.ts';
import { fieldErrors } from '../base/errors.ts';
import { Form } from '../ui/form/Form.tsx';
import { AnchorTo } from '../ui/links.tsx';
import { EntranceFrame } from './EntranceFrame.tsx';

export function SignUp() {
  const { t } = useTranslation('entrance');
  const { onboarding } = useConfig();
  const { to } = useSearch({ from: '/sign-up' });
  const router = useRouter();
  const changeSession = useSessionChange();
  const form = useForm({ initialValues: { name: '', email: '', password: '' } });
  const signUp = useMutation(
    trpc.auths.signUp.mutationOptions({
      meta: { showsError: true },
      onError: (error) => form.setErrors(fieldErrors(error)),
      async onSuccess() {
        await changeSession();
        router.history.push(to ?? '/');
      },
    }),
  );
  return (
    <EntranceFrame
      title={onboarding ? t('signUp.firstTitle') : t('signUp.title')}
      hint={onboarding ? t('signUp.firstHint') : t('signUp.hint')}
      foot={
        !onboarding && (
          <AnchorTo to="/sign-in" search={to ? { to } : {}}>
            {t('signUp.toSignIn')}
          </AnchorTo>
        )
      }
    >
      <Form
        onSubmit={form.onSubmit((values) => signUp.mutate(values))}
        call={signUp}
        submit={t('signUp.submit')}
        button="wide"
      >
        <TextInput label={t('name')} autoComplete="name" required autoFocus {...form.getInputProps('name')} />
        <TextInput
          label={t('email')}
          type="email"
          autoComplete="username"
          required
          {...form.getInputProps('email')}
        />
        <PasswordInput
          label={t('password')}
          autoComplete="new-password"
          required
          {...form.getInputProps('password')}
        />
      </Form>
    </EntranceFrame>
  );
}
