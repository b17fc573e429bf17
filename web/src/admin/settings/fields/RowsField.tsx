import { Button, Stack, Text } from '@mantine/core';
import { Plus } from 'lucide-react';
import type { ComponentType, Key } from 'react';
import type { FieldProperties } from '../field.ts';

export interface RowProperties<Row> {
  /** Counted from 1. */
  number: number;
  row: Row;
  isLocked: boolean;
  /** Null removes the row. */
  onChange(next: Row | null): void;
}

interface Properties<Row> {
  field: FieldProperties;
  rows: Row[];
  onChange(rows: Row[]): void;
  /** Rows without an identity have their place. */
  keyOf?(row: Row): Key;
  component: ComponentType<RowProperties<Row>>;
  /** The row that the button adds. */
  first(): Row;
  addLabel: string;
  /** Shown without rows. */
  emptyText?: string;
}

/** The editor of a setting that is a list: a row for each entry, and a button that adds one. */
export function RowsField<Row>({
  field: { label, setting, error },
  rows,
  onChange,
  keyOf,
  component: RowFields,
  first,
  addLabel,
  emptyText,
}: Properties<Row>) {
  return (
    <Stack gap="sm" role="group" aria-label={label}>
      {rows.length === 0 && emptyText && (
        <Text size="sm" c="dimmed">
          {emptyText}
        </Text>
      )}
      {rows.map((row, index) => (
        <RowFields
          key={keyOf?.(row) ?? index}
          number={index + 1}
          row={row}
          isLocked={setting.locked}
          onChange={(next) => onChange(next === null ? rows.toSpliced(index, 1) : rows.with(index, next))}
        />
      ))}
      {error && (
        <Text size="xs" c="var(--mantine-color-error)">
          {error}
        </Text>
      )}
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<Plus size={14} aria-hidden />}
        disabled={setting.locked}
        style={{ alignSelf: 'start' }}
        onClick={() => onChange([...rows, first()])}
      >
        {addLabel}
      </Button>
    </Stack>
  );
}
