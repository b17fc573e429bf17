import type { Setting } from './settings.ts';

export interface FieldProperties {
  /** What screen readers call the field; the row shows it beside the field. */
  label: string;
  setting: Setting;
  value: unknown;
  onChange(value: unknown): void;
  error: string | undefined;
}

/** What all inputs of Mantine share. */
export const shared = ({ label, setting, error }: FieldProperties) =>
  ({
    'aria-label': label,
    size: 'xs',
    disabled: setting.locked,
    error,
  }) as const;
