import { Accordion, Checkbox, Group, NumberInput, SimpleGrid, Stack, Switch, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { CodeEditor } from '../../ui/code/CodeEditor.tsx';
import { AboutFields } from './AboutFields.tsx';
import { NUMBERS, type NumberName } from './form.ts';
import { PromptField } from './PromptField.tsx';
import { ToolsField } from './ToolsField.tsx';
import type { UseModelForm } from './useModelForm.ts';

interface Properties {
  form: UseModelForm;
  /** The id can be chosen once. */
  isNew: boolean;
  /** True for what the server says of a provider's model, which has no base. */
  isOfProvider: boolean;
}

export function ModelFields({ form, isNew, isOfProvider }: Properties) {
  const { t } = useTranslation('models');
  return (
    <Stack gap="md">
      <AboutFields form={form} isNew={isNew} isOfProvider={isOfProvider} />
      <PromptField form={form} />
      <ToolsField form={form} />
      <Group gap="xl">
        <Checkbox label={t('field.vision')} {...form.getInputProps('hasVision', { type: 'checkbox' })} />
        <Checkbox label={t('field.canCall')} {...form.getInputProps('hasTools', { type: 'checkbox' })} />
      </Group>
      <Parameters form={form} />
      <Switch
        label={t('field.active')}
        description={t('field.activeHint')}
        {...form.getInputProps('isActive', { type: 'checkbox' })}
      />
      {!isNew && <TextInput label={t('field.note')} {...form.getInputProps('note')} />}
    </Stack>
  );
}

function Parameters({ form }: { form: UseModelForm }) {
  const { t } = useTranslation('models');
  const set = [...Object.values(form.values.numbers), form.values.others].filter(
    (value) => value !== '',
  ).length;
  return (
    <Accordion variant="default" chevronPosition="left" defaultValue={set > 0 ? 'params' : null}>
      <Accordion.Item value="params">
        <Accordion.Control>{t('field.params', { count: set })}</Accordion.Control>
        <Accordion.Panel>
          <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="sm" mb="sm">
            {(Object.keys(NUMBERS) as NumberName[]).map((name) => (
              <NumberInput
                key={name}
                label={name}
                placeholder={t('field.default')}
                {...NUMBERS[name]}
                {...form.getInputProps(`numbers.${name}`)}
              />
            ))}
          </SimpleGrid>
          <CodeEditor
            label={t('field.others')}
            description={t('field.othersHint')}
            language="json"
            height={5}
            value={form.values.others}
            onChange={(others) => form.setFieldValue('others', others)}
            error={form.errors.others}
          />
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  );
}
