import { NumberInput, PasswordInput, Select, Switch, TagsInput, Textarea, TextInput } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { type FieldProperties, shared } from './field.ts';
import { JsonValue } from './JsonValue.tsx';
import { kindOf, MASK, schemaOf } from './settings.ts';

/** Settings with an editor of their own. */
const EDITORS: Record<string, React.LazyExoticComponent<React.ComponentType<FieldProperties>>> = {
  'ui.banners': lazy(() => import('./fields/BannersEditor.tsx')),
  'ui.default_locale': lazy(() => import('./fields/LanguageField.tsx')),
  'ui.default_group_id': lazy(() => import('./fields/GroupField.tsx')),
  'ui.default_models': lazy(() => import('./fields/ModelsField.tsx')),
  'ui.default_pinned_models': lazy(() => import('./fields/ModelsField.tsx')),
  'ui.model_order_list': lazy(() => import('./fields/OrderField.tsx')),
  'usage.limits': lazy(() => import('./fields/LimitsEditor.tsx')),
  'usage.prices': lazy(() => import('./fields/PricesEditor.tsx')),
  'webui.color': lazy(() => import('./fields/ColorField.tsx')),
  'webui.logo': lazy(() => import('./fields/LogoField.tsx')),
};

export function SettingField(properties: FieldProperties) {
  const Editor = EDITORS[properties.setting.path];
  if (!Editor) return <PlainField {...properties} />;
  return (
    <Suspense fallback={<div style={{ minHeight: 30 }} />}>
      <Editor {...properties} />
    </Suspense>
  );
}

function PlainField(properties: FieldProperties) {
  const { setting, value, onChange } = properties;
  switch (kindOf(setting)) {
    case 'flag':
      return (
        <Switch
          {...shared(properties)}
          size="sm"
          checked={value === true}
          onChange={({ currentTarget: { checked } }) => onChange(checked)}
        />
      );
    case 'choice':
      return <ChoiceField {...properties} />;
    case 'number':
      return <NumberField {...properties} />;
    case 'texts':
      return <TextsField {...properties} />;
    case 'text':
      return <TextField {...properties} />;
    default:
      return <JsonValue {...properties} />;
  }
}

function ChoiceField(properties: FieldProperties) {
  const { t } = useTranslation('config');
  const { setting, value, onChange } = properties;
  const choices = (schemaOf(setting).enum ?? []).map(String);
  return (
    <Select
      {...shared(properties)}
      data={choices.map((choice) => ({
        value: choice,
        label: t(`choice.${setting.path}.${choice}`, { defaultValue: choice }),
      }))}
      value={String(value)}
      allowDeselect={false}
      onChange={(chosen) => onChange(chosen)}
    />
  );
}

function NumberField(properties: FieldProperties) {
  const { setting, value, onChange } = properties;
  const { minimum, maximum, type } = schemaOf(setting);
  return (
    <NumberInput
      {...shared(properties)}
      value={typeof value === 'number' ? value : ''}
      allowDecimal={type === 'number'}
      clampBehavior="none"
      {...(minimum !== undefined && { min: minimum })}
      {...(maximum !== undefined && { max: maximum })}
      onChange={(changed) => onChange(changed === '' ? setting.default : Number(changed))}
    />
  );
}

function TextsField(properties: FieldProperties) {
  const { t } = useTranslation('config');
  const texts = Array.isArray(properties.value) ? properties.value.map(String) : [];
  return (
    <TagsInput
      {...shared(properties)}
      value={texts}
      placeholder={texts.length === 0 ? t('field.texts') : ''}
      splitChars={[',', ';', ' ']}
      allowDuplicates={texts.includes(MASK)}
      onChange={(changed) => properties.onChange(changed)}
    />
  );
}

function TextField(properties: FieldProperties) {
  const { t } = useTranslation('config');
  const { setting, value, onChange } = properties;
  const text = typeof value === 'string' ? value : '';
  // A text without a value has null where that is the default.
  const change = (changed: string) => onChange(changed === '' && setting.default === null ? null : changed);
  const field = {
    ...shared(properties),
    value: text,
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => change(currentTarget.value),
  };
  if (setting.value === MASK) return <PasswordInput {...field} description={t('field.secret')} />;
  if (setting.path.endsWith('_content') || setting.path === 'ui.watermark') {
    return <Textarea {...field} autosize minRows={2} maxRows={10} />;
  }
  return <TextInput {...field} />;
}
