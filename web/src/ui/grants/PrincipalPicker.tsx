import { Combobox, Group, Loader, Text, TextInput, useCombobox } from '@mantine/core';
import { Search, UsersRound } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorNote } from '../ErrorNote.tsx';
import { Person } from '../Person.tsx';
import { type Principal, usePeopleSearch, useShareableGroups } from './principals.ts';

export interface Picked extends Principal {
  name: string;
}

interface Properties {
  label: string;
  size?: 'xs' | 'sm';
  placeholder?: string;
  description?: string;
  /** Which kinds are offered; both unless said. */
  kinds?: Principal['type'][];
  /** Ids that are chosen already. */
  without?: string[];
  onPick(picked: Picked): void;
  disabled?: boolean;
  autoFocus?: boolean;
}

const BOTH: Principal['type'][] = ['user', 'group'];

/** A field that finds people and groups by name. Each choice is handed over, and the field is empty again. */
export function PrincipalPicker({
  kinds = BOTH,
  without = [],
  onPick,
  autoFocus = false,
  ...field
}: Properties) {
  const { t } = useTranslation();
  const [query, setQuery] = useState('');
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() });
  const { offers, error, isLoading } = useOffers(query, kinds, without, combobox.dropdownOpened);
  const pick = (id: string) => {
    const chosen = offers.find((offer) => offer.id === id);
    if (chosen) onPick({ type: chosen.type, id: chosen.id, name: chosen.name });
    setQuery('');
    combobox.closeDropdown();
  };
  return (
    <Combobox store={combobox} onOptionSubmit={pick}>
      <Combobox.Target>
        <TextInput
          size="sm"
          {...field}
          data-autofocus={autoFocus || undefined}
          value={query}
          onChange={({ currentTarget: { value } }) => {
            setQuery(value);
            combobox.openDropdown();
            combobox.updateSelectedOptionIndex();
          }}
          onFocus={() => combobox.openDropdown()}
          onClick={() => combobox.openDropdown()}
          onBlur={() => combobox.closeDropdown()}
          leftSection={<Search size={15} aria-hidden />}
          rightSection={isLoading ? <Loader size={14} /> : null}
          autoComplete="off"
        />
      </Combobox.Target>
      <Combobox.Dropdown>
        <ErrorNote error={error} />
        <Combobox.Options mah={260} style={{ overflowY: 'auto' }}>
          {offers.map((offer) => (
            <Combobox.Option key={offer.id} value={offer.id}>
              <Offer {...offer} />
            </Combobox.Option>
          ))}
          {offers.length === 0 && !isLoading && !error && (
            <Combobox.Empty>{t('grants.noMatch')}</Combobox.Empty>
          )}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}

interface OfferProperties extends Picked {
  detail: string | null;
}

function Offer({ type, id, name, detail }: OfferProperties) {
  return (
    <Group gap="xs" wrap="nowrap">
      {type === 'user' ? <Person id={id} name={name} size={22} /> : <UsersRound size={18} aria-hidden />}
      <Text size="sm" truncate>
        {name}
      </Text>
      {detail && (
        <Text size="xs" c="dimmed" truncate>
          {detail}
        </Text>
      )}
    </Group>
  );
}

function useOffers(query: string, kinds: Principal['type'][], without: string[], isOpen: boolean) {
  const { t } = useTranslation();
  const people = usePeopleSearch(query, isOpen && kinds.includes('user'));
  const groups = useShareableGroups(isOpen && kinds.includes('group'));
  const wanted = query.trim().toLowerCase();
  const offers: OfferProperties[] = [
    ...(groups.data ?? [])
      .filter(({ name }) => kinds.includes('group') && name.toLowerCase().includes(wanted))
      .map(({ id, name, member_count }) => ({
        type: 'group' as const,
        id,
        name,
        detail: t('grants.memberCount', { count: member_count }),
      })),
    ...(people.data?.users ?? [])
      .filter(({ role }) => kinds.includes('user') && role !== 'pending')
      .map(({ id, name, email }) => ({ type: 'user' as const, id, name, detail: email })),
  ];
  return {
    offers: offers.filter(({ id }) => !without.includes(id)),
    error: people.error ?? groups.error,
    isLoading: people.isLoading || groups.isLoading,
  };
}
