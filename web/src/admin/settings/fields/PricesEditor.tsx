import { ActionIcon, Autocomplete, Button, Group, NumberInput, Stack, Text } from '@mantine/core';
import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isSame } from '../../../ui/schema/values.ts';
import type { FieldProperties } from '../field.ts';
import { useModelChoices } from './models.ts';

interface Price {
  in: number;
  out: number;
  cached?: number;
}
type Row = [model: string, price: Price];

const AMOUNTS = ['in', 'cached', 'out'] as const;

/** Prices of models for a million tokens. */
export default function PricesEditor({ setting, value, onChange, error, label }: FieldProperties) {
  const { t } = useTranslation('config');
  const models = useModelChoices([]);
  // Rows with equal or empty names exist only while they are typed.
  const [rows, setRows] = useState<Row[]>(() => Object.entries(value as Record<string, Price>));
  // A value from outside, such as the default, replaces the rows.
  if (!isSame(pricesOf(rows), value)) setRows(Object.entries(value as Record<string, Price>));
  const change = (next: Row[]) => {
    setRows(next);
    onChange(pricesOf(next));
  };
  return (
    <Stack gap="xs" role="group" aria-label={label}>
      {rows.map((row, index) => (
        <PriceRow
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity while they are typed
          key={index}
          number={index + 1}
          row={row}
          models={models.map((choice) => choice.value)}
          isLocked={setting.locked}
          onChange={(next) => change(next ? rows.with(index, next) : rows.toSpliced(index, 1))}
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
        onClick={() => setRows([...rows, ['', { in: 0, out: 0 }]])}
      >
        {t('price.add')}
      </Button>
    </Stack>
  );
}

interface RowProperties {
  number: number;
  row: Row;
  /** Ids that are offered. */
  models: string[];
  isLocked: boolean;
  /** Null removes the price. */
  onChange(next: Row | null): void;
}

function PriceRow({ number, row: [model, price], models, isLocked, onChange }: RowProperties) {
  const { t } = useTranslation('config');
  return (
    <Group gap="xs" align="end" role="group" aria-label={t('price.number', { number })}>
      <Autocomplete
        size="xs"
        flex="2 1 160px"
        label={t('price.model')}
        placeholder="gpt-5*"
        disabled={isLocked}
        data={models}
        value={model}
        onChange={(typed) => onChange([typed, price])}
      />
      {AMOUNTS.map((name) => (
        <NumberInput
          key={name}
          size="xs"
          flex="1 1 90px"
          label={t(`price.${name}`)}
          min={0}
          hideControls
          clampBehavior="none"
          disabled={isLocked}
          value={price[name] ?? ''}
          onChange={(amount) => onChange([model, withAmount(price, name, amount)])}
        />
      ))}
      <ActionIcon
        variant="subtle"
        color="gray"
        disabled={isLocked}
        aria-label={t('price.remove', { number })}
        onClick={() => onChange(null)}
      >
        <X size={16} aria-hidden />
      </ActionIcon>
    </Group>
  );
}

/** A row without a name is not sent yet. */
const pricesOf = (rows: Row[]): Record<string, Price> =>
  Object.fromEntries(
    rows.filter(([model]) => model.trim() !== '').map(([model, price]) => [model.trim(), price]),
  );

function withAmount(price: Price, name: keyof Price, amount: number | string): Price {
  if (amount !== '') return { ...price, [name]: Number(amount) };
  if (name !== 'cached') return { ...price, [name]: 0 };
  const { cached: _cached, ...others } = price;
  return others;
}
