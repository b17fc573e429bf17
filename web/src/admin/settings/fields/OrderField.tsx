import { ActionIcon, Group, Select, Stack, Text } from '@mantine/core';
import { ArrowDown, ArrowUp, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { type FieldProperties, shared } from '../field.ts';
import { useModelChoices } from './models.ts';

/** Models in an order; the others follow by name. */
export default function OrderField(properties: FieldProperties) {
  const { t } = useTranslation('config');
  const { value, onChange, setting } = properties;
  const ids = Array.isArray(value) ? value.map(String) : [];
  const choices = useModelChoices(ids);
  const nameOf = (id: string) => choices.find((choice) => choice.value === id)?.label ?? id;
  const move = (from: number, to: number) =>
    onChange(ids.toSpliced(from, 1).toSpliced(to, 0, ids[from] ?? ''));
  return (
    <Stack gap={4} maw={480}>
      {ids.map((id, index) => (
        <Group key={id} gap={4} wrap="nowrap">
          <Text size="sm" truncate flex={1}>
            {index + 1}. {nameOf(id)}
          </Text>
          <Move
            label={t('field.up', { name: nameOf(id) })}
            isOff={setting.locked || index === 0}
            onClick={() => move(index, index - 1)}
          >
            <ArrowUp size={14} aria-hidden />
          </Move>
          <Move
            label={t('field.down', { name: nameOf(id) })}
            isOff={setting.locked || index === ids.length - 1}
            onClick={() => move(index, index + 1)}
          >
            <ArrowDown size={14} aria-hidden />
          </Move>
          <Move
            label={t('field.remove', { name: nameOf(id) })}
            isOff={setting.locked}
            onClick={() => onChange(ids.toSpliced(index, 1))}
          >
            <X size={14} aria-hidden />
          </Move>
        </Group>
      ))}
      <Select
        {...shared(properties)}
        placeholder={t('field.addModel')}
        data={choices.filter((choice) => !ids.includes(choice.value))}
        value={null}
        searchable
        nothingFoundMessage={t('field.noMatch')}
        onChange={(id) => id && onChange([...ids, id])}
      />
    </Stack>
  );
}

interface MoveProperties {
  label: string;
  isOff: boolean;
  onClick(): void;
  children: ReactNode;
}

const Move = ({ label, isOff, onClick, children }: MoveProperties) => (
  <ActionIcon variant="subtle" color="gray" size="sm" aria-label={label} disabled={isOff} onClick={onClick}>
    {children}
  </ActionIcon>
);
