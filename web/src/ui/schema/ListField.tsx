import { ActionIcon, Button, Fieldset, Group, Stack, Text } from '@mantine/core';
import { Plus, X } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { FieldInput, type FieldProperties, LEGEND } from './FieldInput.tsx';

/** A list: a row for each entry, and a button that adds one. */
export function ListField(properties: FieldProperties) {
  const { t } = useTranslation();
  const { label, field, value, stored, onChange, errors, path, disabled, isRequired } = properties;
  const { items } = field;
  const entries: unknown[] = Array.isArray(value) ? value : [];
  const before: unknown[] = Array.isArray(stored) ? stored : [];
  if (!items) return null;
  const first = items.kind === 'object' ? {} : (items.schema.default ?? emptyOf(items.kind));
  return (
    <Fieldset legend={isRequired ? `${label} *` : label} p="sm" mx={0} disabled={disabled} styles={LEGEND}>
      <Stack gap="xs" align="stretch">
        {field.schema.description && (
          <Text size="xs" c="dimmed">
            {field.schema.description}
          </Text>
        )}
        {errors[path] && (
          <Text size="xs" c="var(--mantine-color-error)">
            {errors[path]}
          </Text>
        )}
        {entries.map((entry, index) => (
          // Entries have no identity of their own.
          // biome-ignore lint/suspicious/noArrayIndexKey: see above
          <Group key={index} gap="xs" align="end" wrap="nowrap">
            <div style={{ flex: 1 }}>
              <FieldInput
                label={t('schema.entry', { label, number: index + 1 })}
                field={items}
                isRequired={false}
                value={entry}
                stored={before[index]}
                onChange={(changed) => onChange(entries.with(index, changed ?? first))}
                errors={errors}
                path={`${path}.${index}`}
                disabled={disabled}
              />
            </div>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={t('schema.removeEntry', { label, number: index + 1 })}
              onClick={() => onChange(entries.toSpliced(index, 1))}
            >
              <X size={16} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        <Button
          size="compact-sm"
          variant="default"
          leftSection={<Plus size={14} aria-hidden />}
          aria-label={t('schema.addEntry', { label })}
          onClick={() => onChange([...entries, first])}
          style={{ alignSelf: 'flex-start' }}
        >
          {t('action.add')}
        </Button>
      </Stack>
    </Fieldset>
  );
}

function emptyOf(kind: string): unknown {
  if (kind === 'integer' || kind === 'number') return 0;
  if (kind === 'boolean') return false;
  if (kind === 'list' || kind === 'choices') return [];
  return kind === 'json' ? null : '';
}
