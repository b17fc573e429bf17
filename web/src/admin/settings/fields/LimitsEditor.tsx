import {
  ActionIcon,
  Autocomplete,
  Checkbox,
  Group,
  NativeSelect,
  NumberInput,
  Select,
  Text,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../../api/query.ts';
import { PrincipalPicker } from '../../../ui/grants/PrincipalPicker.tsx';
import { useNames } from '../../../ui/grants/principals.ts';
import type { FieldProperties } from '../field.ts';
import classes from './fields.module.css';
import { useModelChoices } from './models.ts';
import { type RowProperties, RowsField } from './RowsField.tsx';

interface Limit {
  scope: 'user' | 'group' | 'model' | 'all';
  id?: string;
  each?: boolean;
  requests?: number;
  tokens?: number;
  cost?: number;
  per: 'minute' | 'day' | 'month';
}

const SCOPES = ['user', 'group', 'model', 'all'] as const;
const WINDOWS = ['minute', 'day', 'month'] as const;
const AMOUNTS = ['requests', 'tokens', 'cost'] as const;
const FIRST: Limit = { scope: 'user', tokens: 100_000, per: 'day' };

/** Budgets for people, groups, models and all together. */
export default function LimitsEditor(field: FieldProperties) {
  const { t } = useTranslation('config');
  return (
    <RowsField
      field={field}
      rows={(Array.isArray(field.value) ? field.value : []) as Limit[]}
      onChange={field.onChange}
      component={LimitRow}
      first={() => FIRST}
      addLabel={t('limit.add')}
      emptyText={t('limit.none')}
    />
  );
}

function LimitRow({ number, row: limit, isLocked, onChange }: RowProperties<Limit>) {
  const { t } = useTranslation('config');
  const { scope, per, each } = limit;
  const change = (changed: Partial<Limit>) => onChange(without({ ...limit, ...changed }));
  return (
    <fieldset className={classes.limit} disabled={isLocked} aria-label={t('limit.number', { number })}>
      <NativeSelect
        size="xs"
        label={t('limit.scope')}
        value={scope}
        onChange={({ currentTarget }) => {
          const { id: _id, ...others } = limit;
          onChange({ ...others, scope: currentTarget.value as Limit['scope'] });
        }}
        data={SCOPES.map((one) => ({ value: one, label: t(`limit.scopeName.${one}`) }))}
      />
      {scope !== 'all' && (
        <div className={classes.whom}>
          <Whom limit={limit} onChange={(id) => change({ id })} />
        </div>
      )}
      <Amounts limit={limit} onChange={change} />
      <NativeSelect
        size="xs"
        label={t('limit.per')}
        value={per}
        onChange={({ currentTarget }) => change({ per: currentTarget.value as Limit['per'] })}
        data={WINDOWS.map((one) => ({ value: one, label: t(`limit.perName.${one}`) }))}
      />
      <ActionIcon
        variant="subtle"
        color="gray"
        className={classes.end}
        aria-label={t('limit.remove', { number })}
        onClick={() => onChange(null)}
      >
        <X size={16} aria-hidden />
      </ActionIcon>
      {scope !== 'user' && (
        <Checkbox
          size="xs"
          className={classes.each}
          label={t('limit.each')}
          checked={each === true}
          onChange={({ currentTarget }) => change({ each: currentTarget.checked || undefined })}
        />
      )}
    </fieldset>
  );
}

interface AmountsProperties {
  limit: Limit;
  onChange(changed: { [Name in keyof Limit]?: Limit[Name] | undefined }): void;
}

function Amounts({ limit, onChange }: AmountsProperties) {
  const { t } = useTranslation('config');
  return AMOUNTS.map((name) => (
    <NumberInput
      key={name}
      size="xs"
      label={t(`limit.${name}`)}
      placeholder={t('limit.any')}
      min={0}
      hideControls
      clampBehavior="none"
      allowDecimal={name === 'cost'}
      thousandSeparator=" "
      value={limit[name] ?? ''}
      onChange={(amount) => onChange({ [name]: amount === '' ? undefined : Number(amount) })}
    />
  ));
}

/** Leaves out what is not set, as the configuration has it. */
const without = (limit: { [Name in keyof Limit]: Limit[Name] | undefined }): Limit =>
  Object.fromEntries(
    Object.entries(limit).filter(([, value]) => value !== undefined && value !== ''),
  ) as unknown as Limit;

interface WhomProperties {
  limit: Limit;
  /** Undefined: each one. */
  onChange(id: string | undefined): void;
}

/** One account, group or model; each of them unless chosen. */
function Whom({ limit: { scope, id }, onChange }: WhomProperties) {
  const { t } = useTranslation('config');
  const label = t('limit.whom');
  const models = useModelChoices([]);
  const { data: groups = [] } = useQuery(trpc.groups.list.queryOptions({}, { enabled: scope === 'group' }));
  if (scope === 'user') return <Account id={id} onChange={onChange} />;
  if (scope === 'group') {
    return (
      <Select
        size="xs"
        label={label}
        placeholder={t('limit.eachOne.group')}
        data={groups.map((group) => ({ value: group.id, label: group.name }))}
        value={id ?? null}
        clearable
        searchable
        onChange={(chosen) => onChange(chosen ?? undefined)}
      />
    );
  }
  return (
    <Autocomplete
      size="xs"
      label={label}
      placeholder={t('limit.eachOne.model')}
      data={models.map(({ value }) => value)}
      value={id ?? ''}
      onChange={(typed) => onChange(typed || undefined)}
    />
  );
}

function Account({ id, onChange }: { id: string | undefined; onChange(id: string | undefined): void }) {
  const { t } = useTranslation('config');
  const names = useNames(id ? [{ type: 'user', id }] : []);
  if (!id) {
    return (
      <PrincipalPicker
        label={t('limit.whom')}
        placeholder={t('limit.eachOne.user')}
        kinds={['user']}
        size="xs"
        onPick={(picked) => onChange(picked.id)}
      />
    );
  }
  return (
    <div>
      <Text size="xs" fw={500}>
        {t('limit.whom')}
      </Text>
      <Group gap={4} wrap="nowrap">
        <Text size="sm" truncate>
          {names.get(id) ?? id}
        </Text>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          aria-label={t('limit.forEach')}
          onClick={() => onChange(undefined)}
        >
          <X size={14} aria-hidden />
        </ActionIcon>
      </Group>
    </div>
  );
}
