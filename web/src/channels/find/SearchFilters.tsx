import { Button, Pill, Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { useChannelTitle } from '../../messages/title.ts';
import { PrincipalPicker } from '../../ui/grants/PrincipalPicker.tsx';
import { useNames } from '../../ui/grants/principals.ts';
import classes from './SearchFilters.module.css';
import type { SearchTerms } from './terms.ts';

/** Narrows a search to a channel, an author and days. */
export function SearchFilters({ terms }: { terms: SearchTerms }) {
  const { t } = useTranslation('channels');
  const navigate = useNavigate();
  const titleOf = useChannelTitle();
  const { data: channels = [] } = useQuery(trpc.channels.list.queryOptions());
  const change = (changes: Partial<SearchTerms>) =>
    void navigate({ to: '/search', search: { ...terms, ...changes }, replace: true });
  const isNarrowed = Boolean(terms.channel || terms.from || terms.after || terms.before);
  return (
    <fieldset className={classes.filters} aria-label={t('search.filters')}>
      <Select
        size="xs"
        label={t('search.channel')}
        placeholder={t('search.anyChannel')}
        searchable
        clearable
        value={terms.channel ?? null}
        data={channels.map((channel) => ({ value: channel.id, label: titleOf(channel) }))}
        onChange={(channel) => change({ channel: channel ?? undefined })}
      />
      <Author id={terms.from} onChange={(from) => change({ from })} />
      <TextInput
        size="xs"
        type="date"
        label={t('search.after')}
        value={terms.after ?? ''}
        onChange={({ currentTarget }) => change({ after: currentTarget.value || undefined })}
      />
      <TextInput
        size="xs"
        type="date"
        label={t('search.before')}
        value={terms.before ?? ''}
        onChange={({ currentTarget }) => change({ before: currentTarget.value || undefined })}
      />
      {isNarrowed && (
        <Button
          size="xs"
          variant="subtle"
          onClick={() => void navigate({ to: '/search', search: { q: terms.q }, replace: true })}
        >
          {t('search.clear')}
        </Button>
      )}
    </fieldset>
  );
}

interface AuthorProperties {
  id: string | undefined;
  onChange(id: string | undefined): void;
}

function Author({ id, onChange }: AuthorProperties) {
  const { t } = useTranslation('channels');
  const names = useNames(id ? [{ type: 'user', id }] : []);
  if (!id) {
    return (
      <PrincipalPicker
        size="xs"
        label={t('search.from')}
        placeholder={t('search.anyone')}
        kinds={['user']}
        onPick={(person) => onChange(person.id)}
      />
    );
  }
  const name = names.get(id) ?? '…';
  return (
    <Pill
      size="lg"
      withRemoveButton
      removeButtonProps={{ 'aria-label': t('search.anyAuthor', { name }), tabIndex: 0, 'aria-hidden': false }}
      onRemove={() => onChange(undefined)}
    >
      {t('search.fromNamed', { name })}
    </Pill>
  );
}
