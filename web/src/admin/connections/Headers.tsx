import { ActionIcon, Button, Group, Input, Stack, TextInput } from '@mantine/core';
import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { MASK } from '../settings/settings.ts';

interface Properties {
  value: Record<string, string>;
  /** True where stored values must be typed again. */
  isLost: boolean;
  error: string | undefined;
  onChange(value: Record<string, string>): void;
}

/** Headers that are sent with each request. Their values are secrets: stored ones are masked. */
export function Headers({ value, isLost, error, onChange }: Properties) {
  const { t } = useTranslation('config');
  // Rows with equal or empty names exist only while they are typed.
  const [rows, setRows] = useState(() => Object.entries(value));
  const change = (next: [string, string][]) => {
    setRows(next);
    onChange(Object.fromEntries(next.filter(([name]) => name.trim() !== '')));
  };
  return (
    <Input.Wrapper label={t('connection.headers')} labelElement="div" error={error}>
      <Stack gap={6}>
        {rows.map(([name, text], index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity while they are typed
          <Group key={index} gap={6} wrap="nowrap" align="start">
            <TextInput
              size="xs"
              flex={1}
              aria-label={t('connection.headerName', { number: index + 1 })}
              placeholder="X-Team"
              value={name}
              onChange={({ currentTarget }) => change(rows.with(index, [currentTarget.value, text]))}
            />
            <TextInput
              size="xs"
              flex={2}
              aria-label={t('connection.headerValue', { number: index + 1 })}
              value={text}
              error={isLost && text === MASK ? t('connection.keyLost') : undefined}
              onChange={({ currentTarget }) => change(rows.with(index, [name, currentTarget.value]))}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t('connection.headerRemove', { number: index + 1 })}
              onClick={() => change(rows.toSpliced(index, 1))}
            >
              <X size={16} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        <Button
          size="compact-xs"
          variant="default"
          leftSection={<Plus size={14} aria-hidden />}
          style={{ alignSelf: 'start' }}
          onClick={() => setRows([...rows, ['', '']])}
        >
          {t('connection.headerAdd')}
        </Button>
      </Stack>
    </Input.Wrapper>
  );
}
