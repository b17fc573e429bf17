import { ActionIcon, Anchor, Button, Fieldset, Group, Stack, Text } from '@mantine/core';
import { Plus, X } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { FieldProperties } from './field.ts';
import { JsonField } from './JsonField.tsx';
import { PlainField } from './PlainField.tsx';
import { SecretField } from './SecretField.tsx';
import { type Field, labelOf } from './schema.ts';
import { isSame, type Values, withMember } from './values.ts';

/** The input for one value. Objects and lists hold inputs themselves. */
export function FieldInput(properties: FieldProperties) {
  switch (properties.field.kind) {
    case 'secret':
      return <SecretField {...properties} />;
    case 'list':
      return <ListField {...properties} />;
    case 'object':
      return <ObjectField {...properties} />;
    case 'json':
      return <JsonField {...properties} />;
    default:
      return <PlainField {...properties} />;
  }
}

/** As the labels of the other inputs. */
const LEGEND = { legend: { fontWeight: 500 } };

const isValues = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function ObjectField({ label, field, value, stored, onChange, errors, path, disabled }: FieldProperties) {
  return (
    <Fieldset legend={label} disabled={disabled} p="sm" mx={0} styles={LEGEND}>
      <Stack gap="sm">
        {field.schema.description && (
          <Text size="xs" c="dimmed">
            {field.schema.description}
          </Text>
        )}
        <Members
          fields={field.members}
          value={isValues(value) ? value : {}}
          stored={isValues(stored) ? stored : undefined}
          onChange={onChange}
          errors={errors}
          path={`${path}.`}
          disabled={disabled}
        />
      </Stack>
    </Fieldset>
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

/** The inputs of an object. */
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

/** A list: a row for each entry, and a button that adds one. */
function ListField(properties: FieldProperties) {
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
