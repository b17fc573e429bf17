import { ActionIcon, Autocomplete, Group, NumberInput } from '@mantine/core';
import { X } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isSame } from '../../../ui/schema/values.ts';
import type { FieldProperties } from '../field.ts';
import { useModelChoices } from './models.ts';
import { type RowProperties, RowsField } from './RowsField.tsx';

interface Price {
  in: number;
  out: number;
  cached?: number;
}
type Row = [model: string, price: Price];

const AMOUNTS = ['in', 'cached', 'out'] as const;

/** Prices of models for a million tokens. */
export default function PricesEditor(field: FieldProperties) {
  const { t } = useTranslation('config');
  const { value, onChange } = field;
  // Rows with equal or empty names exist only while they are typed.
  const [rows, setRows] = useState<Row[]>(() => Object.entries(value as Record<string, Price>));
  // A value from outside, such as the default, replaces the rows.
  if (!isSame(pricesOf(rows), value)) setRows(Object.entries(value as Record<string, Price>));
  const change = (next: Row[]) => {
    setRows(next);
    onChange(pricesOf(next));
  };
  return (
    <RowsField
      field={field}
      rows={rows}
      onChange={change}
      component={PriceRow}
      first={(): Row => ['', { in: 0, out: 0 }]}
      addLabel={t('price.add')}
    />
  );
}

function PriceRow({ number, row: [model, price], isLocked, onChange }: RowProperties<Row>) {
  const { t } = useTranslation('config');
  const models = useModelChoices([]);
  return (
    <Group gap="xs" align="end" role="group" aria-label={t('price.number', { number })}>
      <Autocomplete
        size="xs"
        flex="2 1 160px"
        label={t('price.model')}
        placeholder="gpt-5*"
        disabled={isLocked}
        data={models.map((choice) => choice.value)}
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
