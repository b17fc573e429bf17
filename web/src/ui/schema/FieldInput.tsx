import {
  Checkbox,
  ColorInput,
  Fieldset,
  MultiSelect,
  NumberInput,
  Select,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { JsonField } from './JsonField.tsx';
import { ListField } from './ListField.tsx';
import { Members } from './SchemaForm.tsx';
import { SecretField } from './SecretField.tsx';
import type { Choice, Field } from './schema.ts';
import type { Values } from './values.ts';

export interface FieldProperties {
  label: string;
  field: Field;
  isRequired: boolean;
  value: unknown;
  /** The value before the edit. */
  stored: unknown;
  /** `undefined` removes the value. */
  onChange(value: unknown): void;
  errors: Record<string, string>;
  path: string;
  disabled: boolean;
}

/** The input for one value. */
export function FieldInput(properties: FieldProperties) {
  const { field } = properties;
  switch (field.kind) {
    case 'boolean':
      return <BooleanField {...properties} />;
    case 'integer':
    case 'number':
      return <NumberField {...properties} />;
    case 'choice':
      return <ChoiceField {...properties} />;
    case 'choices':
      return <ChoicesField {...properties} />;
    case 'secret':
      return <SecretField {...properties} />;
    case 'list':
      return <ListField {...properties} />;
    case 'object':
      return <ObjectField {...properties} />;
    case 'json':
      return <JsonField {...properties} />;
    default:
      return <TextField {...properties} />;
  }
}

/** What all inputs of Mantine share. */
export const common = ({ label, field, isRequired, errors, path, disabled }: FieldProperties) => ({
  label,
  description: field.schema.description,
  withAsterisk: isRequired,
  error: errors[path],
  disabled,
});

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

function TextField(properties: FieldProperties) {
  const { field, isRequired, value, onChange } = properties;
  const hasDefault = field.schema.default !== undefined && field.schema.default !== null;
  // An empty text is a value only where leaving it out would mean another one.
  const change = (text: string) => onChange(text === '' && !isRequired && !hasDefault ? undefined : text);
  const shared = { ...common(properties), value: textOf(value) };
  if (field.kind === 'color') return <ColorInput {...shared} onChange={change} />;
  if (field.kind === 'longText')
    return (
      <Textarea
        {...shared}
        autosize
        minRows={3}
        maxRows={12}
        onChange={({ currentTarget }) => change(currentTarget.value)}
      />
    );
  return <TextInput {...shared} onChange={({ currentTarget }) => change(currentTarget.value)} />;
}

function NumberField(properties: FieldProperties) {
  const { field, value, onChange } = properties;
  const { minimum, maximum } = field.schema;
  return (
    <NumberInput
      {...common(properties)}
      value={typeof value === 'number' ? value : ''}
      allowDecimal={field.kind === 'number'}
      clampBehavior="none"
      {...(minimum !== undefined && { min: minimum })}
      {...(maximum !== undefined && { max: maximum })}
      onChange={(changed) => onChange(changed === '' ? undefined : Number(changed))}
    />
  );
}

function BooleanField(properties: FieldProperties) {
  const { withAsterisk: _asterisk, ...shared } = common(properties);
  return (
    <Checkbox
      {...shared}
      mt={4}
      checked={properties.value === true}
      onChange={({ currentTarget }) => properties.onChange(currentTarget.checked)}
    />
  );
}

/** Values of any type by their JSON, since inputs hold texts. */
const keyOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
const dataOf = (choices: Choice[], chosen: unknown[]) => {
  const known = new Set(choices.map(({ value }) => keyOf(value)));
  const others = chosen.map(keyOf).filter((key) => !known.has(key));
  return [
    ...choices.map(({ value, label }) => ({ value: keyOf(value), label })),
    ...others.map((key) => ({ value: key, label: key })),
  ];
};
const valueBy = (choices: Choice[], key: string) =>
  choices.find(({ value }) => keyOf(value) === key)?.value ?? key;

function ChoiceField(properties: FieldProperties) {
  const { field, isRequired, value, onChange } = properties;
  const isChosen = value !== undefined && value !== null && value !== '';
  return (
    <Select
      {...common(properties)}
      data={dataOf(field.choices, isChosen ? [value] : [])}
      value={isChosen ? keyOf(value) : null}
      onChange={(key) => onChange(key === null ? undefined : valueBy(field.choices, key))}
      allowDeselect={!isRequired}
      searchable={field.choices.length > 7}
    />
  );
}

function ChoicesField(properties: FieldProperties) {
  const { field, value, onChange } = properties;
  const chosen = Array.isArray(value) ? value : [];
  return (
    <MultiSelect
      {...common(properties)}
      data={dataOf(field.choices, chosen)}
      value={chosen.map(keyOf)}
      onChange={(keys) => onChange(keys.map((key) => valueBy(field.choices, key)))}
      searchable={field.choices.length > 7}
    />
  );
}

/** As the labels of the other inputs. */
export const LEGEND = { legend: { fontWeight: 500 } };

const isValues = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function ObjectField({ label, field, value, stored, onChange, errors, path, disabled }: FieldProperties) {
  return (
    <Fieldset legend={label} disabled={disabled} p="sm" mx={0} styles={LEGEND}>
      <Stack gap="sm">
        {field.schema.description && (
          <Text size="xs" c="dimmed">
            {field.schema.description}
          </Text>
        )}
        <Members
          fields={field.members}
          value={isValues(value) ? value : {}}
          stored={isValues(stored) ? stored : undefined}
          onChange={onChange}
          errors={errors}
          path={`${path}.`}
          disabled={disabled}
        />
      </Stack>
    </Fieldset>
  );
}
