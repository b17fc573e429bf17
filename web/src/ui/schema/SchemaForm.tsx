import { Stack } from '@mantine/core';
import { useMemo } from 'react';
import { Members } from './FieldInput.tsx';
import { fieldsOf, type JsonSchema } from './schema.ts';
import type { Values } from './values.ts';

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
