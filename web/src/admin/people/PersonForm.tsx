import { NativeSelect, PasswordInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { meQuery, useMe } from '../../api/session.ts';
import { fieldErrors } from '../../base/errors.ts';
import { notify } from '../../base/notify.ts';
import { Form } from '../../ui/form/Form.tsx';
import { useStoredForm } from '../../ui/form/useStoredForm.ts';
import { Part } from '../../ui/Part.tsx';
import { NameAndEmail } from './NameAndEmail.tsx';
import type { PersonDetail } from './person.ts';
import { ROLES } from './RoleBadge.tsx';

/** Name, address, role and password. A new role or password ends all sessions of the account. */
export function PersonForm({ person }: { person: PersonDetail }) {
  const { t } = useTranslation('admin');
  const me = useMe();
  const queryClient = useQueryClient();
  const { id, name, email, role } = person;
  const { form, changesIn } = useStoredForm({ name, email, role, password: '' });
  const update = useMutation(
    trpc.users.update.mutationOptions({
      meta: { showsError: true },
      onError: (error) => form.setErrors(fieldErrors(error)),
      async onSuccess() {
        form.setFieldValue('password', '');
        await queryClient.invalidateQueries(trpc.users.pathFilter());
        await queryClient.invalidateQueries(trpc.sessions.listOf.queryFilter({ id }));
        if (id === me.id) await queryClient.invalidateQueries({ queryKey: meQuery.queryKey });
        void notify({ message: t('saved') });
      },
    }),
  );
  // Only what was changed is sent, so that a change of the name ends no session.
  const save = form.onSubmit((values) => update.mutate({ id, ...changesIn(values) }));
  return (
    <Part title={t('person.account')} hint={t('person.accountHint')}>
      <Form onSubmit={save} call={update} submit={t('common:action.save')}>
        <NameAndEmail field={form.getInputProps} />
        <NativeSelect
          label={t('people.role')}
          description={id === me.id ? t('person.ownRole') : undefined}
          disabled={id === me.id}
          data={ROLES.map((value) => ({ value, label: t(`role.${value}`) }))}
          {...form.getInputProps('role')}
        />
        <PasswordInput
          label={t('person.newPassword')}
          description={t('person.newPasswordHint')}
          autoComplete="new-password"
          {...form.getInputProps('password')}
        />
      </Form>
    </Part>
  );
}
