import { Alert, Group, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../api/query.ts';
import { meQuery, useConfig, useMe } from '../api/session.ts';
import { fieldErrors } from '../base/errors.ts';
import { notify } from '../base/notify.ts';
import { Form } from '../ui/form/Form.tsx';
import { PictureButtons } from '../ui/form/PictureButtons.tsx';
import { Page } from '../ui/Page.tsx';
import { Person } from '../ui/Person.tsx';
import { StatusForm } from './StatusForm.tsx';

export function Profile() {
  const { t } = useTranslation('account');
  const me = useMe();
  const { features } = useConfig();
  const queryClient = useQueryClient();
  const { data: account } = useSuspenseQuery(trpc.profile.status.queryOptions());
  const [picture, setPicture] = useState<string | null>(null);
  const form = useForm({ initialValues: { name: account.name, bio: account.bio ?? '' } });
  const update = useMutation(
    trpc.profile.update.mutationOptions({
      meta: { showsError: true },
      onError: (error) => form.setErrors(fieldErrors(error)),
      async onSuccess() {
        setPicture(null);
        form.resetDirty();
        await Promise.all([
          queryClient.invalidateQueries(meQuery),
          queryClient.invalidateQueries(trpc.profile.status.queryFilter()),
        ]);
        void notify({ message: t('profile.saved') });
      },
    }),
  );
  const save = form.onSubmit(({ name, bio }) =>
    update.mutate({
      name,
      bio: bio || null,
      profile_image_url: picture ?? account.profile_image_url,
      gender: account.gender,
      date_of_birth: account.date_of_birth,
    }),
  );
  return (
    <Page title={t('profile.title')}>
      <Form onSubmit={save} call={update} submit={t('common:action.save')}>
        <Group>
          <Person
            id={me.id}
            name={me.name}
            size={64}
            key={account.updated_at}
            {...(picture !== null && { picture })}
          />
          <Stack gap={4}>
            <PictureButtons
              chooseLabel={t('profile.picture')}
              removeLabel={t('profile.pictureRemove')}
              unreadableText={t('profile.pictureUnreadable')}
              canRemove
              onChange={setPicture}
            />
            <Text size="xs" c="dimmed">
              {t('profile.pictureHint')}
            </Text>
          </Stack>
        </Group>
        <TextInput label={t('profile.name')} required autoComplete="name" {...form.getInputProps('name')} />
        <TextInput
          label={t('profile.email')}
          value={account.email}
          readOnly
          description={t('profile.emailHint')}
        />
        <Textarea label={t('profile.bio')} autosize minRows={2} {...form.getInputProps('bio')} />
        {picture !== null && <Alert>{t('profile.pictureUnsaved')}</Alert>}
      </Form>
      {features.enable_user_status && <StatusForm account={account} />}
    </Page>
  );
}
