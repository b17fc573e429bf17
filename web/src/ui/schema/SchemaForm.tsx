import { Anchor, Stack, Text } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { FieldInput } from './FieldInput.tsx';
import { type Field, fieldsOf, type JsonSchema, labelOf } from './schema.ts';
import { isSame, type Values, withMember } from './values.ts';

interface Properties {
  /** A schema of an object. */
  schema: JsonSchema;
  /** The values that are set; the others have their defaults. */
  value: Values;
  onChange(value: Values): void;
  /** The values before the edit: a secret field that shows nothing keeps its own. */
  stored?: Values;
  /** The problems by their path, `headers.0.name`. */
  errors?: Record<string, string>;
  disabled?: boolean;
}

const NONE: Record<string, string> = {};

/** The fields of a JSON Schema, without a form or buttons around them. */
export function SchemaForm({ schema, value, onChange, stored, errors = NONE, disabled = false }: Properties) {
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  return (
    <Stack gap="sm">
      <Members
        fields={fields}
        value={value}
        onChange={onChange}
        stored={stored}
        errors={errors}
        path=""
        disabled={disabled}
      />
    </Stack>
  );
}

interface MembersProperties {
  fields: Field['members'];
  value: Values;
  onChange(value: Values): void;
  stored: Values | undefined;
  errors: Record<string, string>;
  /** The path of the object, with a dot at its end. */
  path: string;
  disabled: boolean;
}

export function Members({ fields, value, onChange, stored, errors, path, disabled }: MembersProperties) {
  return fields.map(([name, field, isRequired]) => (
    <Member
      key={name}
      name={name}
      field={field}
      isRequired={isRequired}
      value={value}
      onChange={onChange}
      stored={stored}
      errors={errors}
      path={`${path}${name}`}
      disabled={disabled}
    />
  ));
}

interface MemberProperties extends Omit<MembersProperties, 'fields'> {
  name: string;
  field: Field;
  isRequired: boolean;
}

function Member({
  name,
  field,
  isRequired,
  value,
  onChange,
  stored,
  errors,
  path,
  disabled,
}: MemberProperties) {
  const { t } = useTranslation();
  const { schema } = field;
  const isSet = Object.hasOwn(value, name);
  const label = labelOf(name, schema);
  const hasDefault = schema.default !== undefined && schema.default !== null;
  const isOther = isSet && hasDefault && !isSame(value[name], schema.default);
  return (
    <div>
      <FieldInput
        label={label}
        field={field}
        isRequired={isRequired}
        value={isSet ? value[name] : schema.default}
        stored={stored?.[name]}
        onChange={(changed) => onChange(withMember(value, name, changed))}
        errors={errors}
        path={path}
        disabled={disabled}
      />
      {isOther && field.kind !== 'secret' && field.kind !== 'object' && !disabled && (
        <Text size="xs" mt={2}>
          <Anchor
            component="button"
            type="button"
            inherit
            aria-label={t('schema.resetName', { label })}
            onClick={() => onChange(withMember(value, name, undefined))}
          >
            {t('schema.reset')}
          </Anchor>
        </Text>
      )}
    </div>
  );
}
