import { Pill, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type Picked, PrincipalPicker } from './PrincipalPicker.tsx';

interface Properties {
  label: string;
  description?: string;
  placeholder?: string;
  value: Picked[];
  onChange(value: Picked[]): void;
  /** True where groups may be chosen beside people. */
  withGroups?: boolean;
  /** Ids that are not offered. */
  without?: string[];
  disabled?: boolean;
  autoFocus?: boolean;
}

/** Chooses several people: a field to find them, and the chosen ones below it. */
export function PeoplePicker({
  value,
  onChange,
  withGroups = false,
  without = [],
  disabled,
  ...field
}: Properties) {
  const { t } = useTranslation();
  return (
    <Stack gap="xs">
      <PrincipalPicker
        {...field}
        disabled={disabled ?? false}
        kinds={withGroups ? ['user', 'group'] : ['user']}
        without={[...without, ...value.map(({ id }) => id)]}
        onPick={(picked) => onChange([...value, picked])}
      />
      {value.length > 0 && (
        <Pill.Group>
          {value.map(({ id, name }) => (
            <Pill
              key={id}
              withRemoveButton
              disabled={disabled ?? false}
              removeButtonProps={{
                'aria-label': t('grants.remove', { name }),
                tabIndex: 0,
                'aria-hidden': false,
              }}
              onRemove={() => onChange(value.filter((one) => one.id !== id))}
            >
              {name}
            </Pill>
          ))}
        </Pill.Group>
      )}
    </Stack>
  );
}
