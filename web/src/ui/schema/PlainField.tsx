import { Checkbox, ColorInput, MultiSelect, NumberInput, Select, Textarea, TextInput } from '@mantine/core';
import { common, type FieldProperties } from './field.ts';
import { type Choice, keyOf } from './schema.ts';

/** The input for a value that holds no others. */
export function PlainField(properties: FieldProperties) {
  switch (properties.field.kind) {
    case 'boolean':
      return <BooleanField {...properties} />;
    case 'integer':
    case 'number':
      return <NumberField {...properties} />;
    case 'choice':
      return <ChoiceField {...properties} />;
    case 'choices':
      return <ChoicesField {...properties} />;
    default:
      return <TextField {...properties} />;
  }
}

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
