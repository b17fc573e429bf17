import type { Field } from './schema.ts';

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

/** What all inputs of Mantine share. */
export const common = ({ label, field, isRequired, errors, path, disabled }: FieldProperties) => ({
  label,
  description: field.schema.description,
  withAsterisk: isRequired,
  error: errors[path],
  disabled,
});
