import { Modal, NativeSelect, PasswordInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { fieldErrors } from '../../base/errors.ts';
import { notify } from '../../base/notify.ts';
import { Form } from '../../ui/form/Form.tsx';
import { NameAndEmail } from './NameAndEmail.tsx';
import { ROLES, type Role } from './RoleBadge.tsx';

interface Properties {
  opened: boolean;
  onClose(): void;
}

export function CreatePerson({ opened, onClose }: Properties) {
  const { t } = useTranslation('admin');
  return (
    <Modal opened={opened} onClose={onClose} title={t('people.create')}>
      <CreateForm onDone={onClose} />
    </Modal>
  );
}

function CreateForm({ onDone }: { onDone(): void }) {
  const { t } = useTranslation('admin');
  const queryClient = useQueryClient();
  const form = useForm({ initialValues: { name: '', email: '', password: '', role: 'user' as Role } });
  const create = useMutation(
    trpc.users.create.mutationOptions({
      meta: { showsError: true },
      onError: (error) => form.setErrors(fieldErrors(error)),
      async onSuccess({ name }) {
        await queryClient.invalidateQueries(trpc.users.pathFilter());
        void notify({ message: t('people.createdNote', { name }) });
        onDone();
      },
    }),
  );
  return (
    <Form
      onSubmit={form.onSubmit((values) => create.mutate(values))}
      call={create}
      submit={t('people.create')}
      button="end"
    >
      <NameAndEmail field={form.getInputProps} isNew />
      <PasswordInput
        label={t('people.password')}
        description={t('people.passwordHint')}
        required
        autoComplete="new-password"
        {...form.getInputProps('password')}
      />
      <NativeSelect
        label={t('people.role')}
        data={ROLES.map((value) => ({ value, label: t(`role.${value}`) }))}
        {...form.getInputProps('role')}
      />
    </Form>
  );
}
