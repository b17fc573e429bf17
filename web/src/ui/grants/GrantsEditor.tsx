import { ActionIcon, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { Globe, UsersRound, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useMe } from '../../api/session.ts';
import { Person } from '../Person.tsx';
import classes from './GrantsEditor.module.css';
import {
  EVERYONE,
  type Grant,
  type GrantInput,
  type GrantRow,
  grantsOf,
  type Resource,
  type Right,
  rowsOf,
  useSharing,
  withRight,
} from './grants.ts';
import { PrincipalPicker } from './PrincipalPicker.tsx';
import { useNames } from './principals.ts';

interface Properties {
  /** The grants of the channel, tool or model; a view's grants fit too. */
  value: Grant[];
  onChange(value: GrantInput[]): void;
  resource: Resource;
  disabled?: boolean;
}

/** Who may read or change a channel, tool or model: everyone, groups, people. */
export function GrantsEditor({ value, onChange, resource, disabled = false }: Properties) {
  const { t } = useTranslation();
  const sharing = useSharing(resource);
  const rows = rowsOf(value);
  const names = useNames(rows);
  const everyone = rows.find(({ id }) => id === EVERYONE.id);
  const named = rows.filter(({ id }) => id !== EVERYONE.id);
  const change = (row: Pick<GrantRow, 'type' | 'id'>, right: Right | null) =>
    onChange(grantsOf(withRight(rows, row, right)));
  return (
    <Stack gap="xs" role="group" aria-label={t('grants.label')}>
      <PrincipalPicker
        label={t('grants.add')}
        placeholder={t('grants.placeholder')}
        kinds={sharing.withUsers ? ['user', 'group'] : ['group']}
        without={rows.map(({ id }) => id)}
        onPick={(picked) => change(picked, 'read')}
        disabled={disabled}
      />
      <ul className={classes.rows}>
        <Row icon={<Globe size={18} aria-hidden />} name={t('grants.everyone')}>
          <RightSelect
            name={t('grants.everyone')}
            resource={resource}
            value={everyone?.right ?? null}
            withNone
            disabled={disabled || (!sharing.withAll && !everyone)}
            onChange={(right) => change(EVERYONE, right)}
          />
        </Row>
        {named.map((row) => (
          <PrincipalRow
            key={row.id}
            row={row}
            name={names.get(row.id) ?? row.id}
            resource={resource}
            disabled={disabled}
            onChange={(right) => change(row, right)}
          />
        ))}
      </ul>
      {!sharing.withAll && (
        <Text size="xs" c="dimmed">
          {t('grants.notPublic')}
        </Text>
      )}
    </Stack>
  );
}

interface PrincipalRowProperties {
  row: GrantRow;
  name: string;
  resource: Resource;
  disabled: boolean;
  onChange(right: Right | null): void;
}

function PrincipalRow({ row, name, resource, disabled, onChange }: PrincipalRowProperties) {
  const { t } = useTranslation();
  const me = useMe();
  const shown = row.id === me.id ? t('grants.you', { name }) : name;
  return (
    <Row
      icon={
        row.type === 'user' ? (
          <Person id={row.id} name={name} size={22} />
        ) : (
          <UsersRound size={18} aria-hidden />
        )
      }
      name={shown}
    >
      <RightSelect
        name={name}
        resource={resource}
        value={row.right}
        disabled={disabled}
        onChange={onChange}
      />
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t('grants.remove', { name })}
        disabled={disabled}
        onClick={() => onChange(null)}
      >
        <X size={16} aria-hidden />
      </ActionIcon>
    </Row>
  );
}

function Row({ icon, name, children }: { icon: ReactNode; name: string; children: ReactNode }) {
  return (
    <li className={classes.row}>
      <span className={classes.icon}>{icon}</span>
      <Text size="sm" truncate className={classes.name}>
        {name}
      </Text>
      <Group gap={4} wrap="nowrap" className={classes.controls}>
        {children}
      </Group>
    </li>
  );
}

interface RightSelectProperties {
  name: string;
  resource: Resource;
  value: Right | null;
  withNone?: boolean;
  disabled: boolean;
  onChange(right: Right | null): void;
}

function RightSelect({ name, resource, value, withNone = false, disabled, onChange }: RightSelectProperties) {
  const { t } = useTranslation();
  return (
    <NativeSelect
      size="xs"
      aria-label={t('grants.rightOf', { name })}
      value={value ?? ''}
      disabled={disabled}
      onChange={({ currentTarget }) => onChange((currentTarget.value || null) as Right | null)}
      data={[
        ...(withNone ? [{ value: '', label: t('grants.none') }] : []),
        { value: 'read', label: t(`grants.${resource}.read`) },
        { value: 'write', label: t(`grants.${resource}.write`) },
      ]}
    />
  );
}
