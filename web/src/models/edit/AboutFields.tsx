import { Group, Select, SimpleGrid, TagsInput, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { PictureButtons } from '../../ui/form/PictureButtons.tsx';
import { Picture } from '../../ui/Picture.tsx';
import { pictureOf } from '../entries.ts';
import { idOf } from './form.ts';
import type { UseModelForm } from './useModelForm.ts';

interface Properties {
  form: UseModelForm;
  isNew: boolean;
  isOfProvider: boolean;
}

/** How the model is called and shown, and which model is below it. */
export function AboutFields({ form, isNew, isOfProvider }: Properties) {
  const { t } = useTranslation('models');
  const { name, id } = form.values;
  // The id follows the name until it is typed.
  const rename = (next: string) =>
    form.setValues({ name: next, ...(isNew && !isOfProvider && id === idOf(name) && { id: idOf(next) }) });
  return (
    <>
      <PictureField form={form} isNew={isNew} />
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm" verticalSpacing="sm">
        <TextInput
          label={t('field.name')}
          required
          value={name}
          onChange={({ currentTarget }) => rename(currentTarget.value)}
          error={form.errors.name}
        />
        <TextInput
          label={t('field.id')}
          description={isNew && !isOfProvider ? t('field.idHint') : undefined}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          required
          readOnly={!isNew || isOfProvider}
          {...form.getInputProps('id')}
        />
      </SimpleGrid>
      {!isOfProvider && <BaseField form={form} />}
      <Textarea
        label={t('field.description')}
        autosize
        minRows={2}
        maxRows={8}
        {...form.getInputProps('description')}
      />
      <TagsInput label={t('field.tags')} placeholder={t('field.tagsHint')} {...form.getInputProps('tags')} />
    </>
  );
}

function BaseField({ form }: { form: UseModelForm }) {
  const { t } = useTranslation('models');
  const { data } = useQuery(trpc.models.list.queryOptions({}));
  const models = (data?.data ?? []).filter(({ id }) => id !== form.values.id);
  const current = form.values.baseId;
  const known = models.some(({ id }) => id === current);
  return (
    <Select
      label={t('field.base')}
      description={t('field.baseHint')}
      required
      searchable
      data={[
        ...models.map(({ id, name }) => ({ value: id, label: name === id ? id : `${name} (${id})` })),
        ...(current !== null && !known ? [{ value: current, label: current }] : []),
      ]}
      nothingFoundMessage={t('list.nothing')}
      {...form.getInputProps('baseId')}
    />
  );
}

function PictureField({ form, isNew }: { form: UseModelForm; isNew: boolean }) {
  const { t } = useTranslation('models');
  const { picture, name, id } = form.values;
  const stored = isNew ? null : pictureOf(id);
  return (
    <Group gap="sm">
      <Picture src={picture === null ? stored : picture || null} name={name || '?'} size={56} />
      <PictureButtons
        chooseLabel={t('field.picture')}
        removeLabel={t('field.noPicture')}
        unreadableText={t('field.pictureUnreadable')}
        canRemove={Boolean(picture) || (!isNew && picture === null)}
        onChange={(data) => form.setFieldValue('picture', data)}
      />
    </Group>
  );
}
