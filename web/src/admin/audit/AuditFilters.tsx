import { Button, Group, Pill, Select, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback, useDidUpdate } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { PrincipalPicker } from '../../ui/grants/PrincipalPicker.tsx';
import { useNames } from '../../ui/grants/principals.ts';
import classes from './AuditFilters.module.css';
import { ACTIONS } from './actions.ts';
import { useActionName } from './columns.tsx';
import { type AuditSearch, searchOf } from './search.ts';

export function AuditFilters({ search }: { search: AuditSearch }) {
  const { t } = useTranslation('admin');
  const navigate = useNavigate();
  const show = (next: AuditSearch) =>
    void navigate({ to: '/admin/audit', search: searchOf({ ...next }), replace: true });
  return (
    <search className={classes.filters} aria-label={t('audit.filters')}>
      <ActorFilter value={search.actor} onChange={(actor) => show({ ...search, actor: actor ?? '' })} />
      <ActionFilter
        value={search.action ?? null}
        onChange={(action) => show({ ...search, action: action ?? '' })}
      />
      <TargetFilter value={search.target ?? ''} onChange={(target) => show({ ...search, target })} />
      {(['from', 'to'] as const).map((name) => (
        <TextInput
          key={name}
          type="date"
          size="sm"
          label={t(`audit.${name}`)}
          value={search[name] ?? ''}
          onChange={({ currentTarget: { value } }) => show({ ...search, [name]: value })}
        />
      ))}
      {Object.keys(search).length > 0 && (
        <Button variant="subtle" size="sm" onClick={() => show({})}>
          {t('audit.clear')}
        </Button>
      )}
    </search>
  );
}

interface FilterProperties {
  value: string | undefined;
  onChange(value: string | null): void;
}

function ActorFilter({ value, onChange }: FilterProperties) {
  const { t } = useTranslation('admin');
  const names = useNames(value ? [{ type: 'user', id: value }] : []);
  if (!value) {
    return (
      <PrincipalPicker
        label={t('audit.actor')}
        placeholder={t('people.searchHint')}
        kinds={['user']}
        onPick={({ id }) => onChange(id)}
      />
    );
  }
  return (
    <div>
      <Text size="sm" fw={500}>
        {t('audit.actor')}
      </Text>
      <Group h={36}>
        <Pill
          size="md"
          withRemoveButton
          removeButtonProps={{ 'aria-label': t('audit.clearActor'), 'aria-hidden': false, tabIndex: 0 }}
          onRemove={() => onChange(null)}
        >
          {names.get(value) ?? value}
        </Pill>
      </Group>
    </div>
  );
}

function ActionFilter({ value, onChange }: { value: string | null; onChange(value: string | null): void }) {
  const { t } = useTranslation('admin');
  const nameOf = useActionName();
  const groups = Object.entries(ACTIONS).map(([noun, actions]) => ({
    group: t(`audit.nouns.${noun}`),
    items: [
      { value: noun, label: t('audit.all', { noun: t(`audit.nouns.${noun}`) }) },
      ...actions.map((action) => ({ value: `${noun}.${action}`, label: nameOf(`${noun}.${action}`) })),
    ],
  }));
  return (
    <Select
      label={t('audit.action')}
      placeholder={t('audit.anyAction')}
      data={groups}
      value={value}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': t('audit.clearAction') }}
      nothingFoundMessage={t('explain.nothingFound')}
      onChange={onChange}
    />
  );
}

const TYPING_MS = 400;

function TargetFilter({ value, onChange }: { value: string; onChange(value: string): void }) {
  const { t } = useTranslation('admin');
  const [typed, setTyped] = useState(value);
  const sent = useRef(value);
  const change = useDebouncedCallback((next: string) => {
    sent.current = next;
    onChange(next);
  }, TYPING_MS);
  // A link led to another object.
  useDidUpdate(() => {
    if (value !== sent.current) setTyped(value);
    sent.current = value;
  }, [value]);
  return (
    <TextInput
      label={t('audit.target')}
      placeholder="user:01a1…"
      value={typed}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        change(currentTarget.value.trim());
      }}
    />
  );
}
