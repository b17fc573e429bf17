import { Button, Loader, Stack, Text, TextInput } from '@mantine/core';
import { isParleyError, type Outputs } from '@parley/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { trpc } from '../../api/query.ts';
import { Empty } from '../../ui/Empty.tsx';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { MoreButton } from '../../ui/list/MoreButton.tsx';
import { Page } from '../../ui/Page.tsx';
import { FoundMessage } from './FoundMessage.tsx';
import { SearchFilters } from './SearchFilters.tsx';
import { inputOf, type SearchTerms } from './terms.ts';
import { useTitles } from './useTitles.ts';

type Found = Outputs['search']['messages'][number];

const PAGE_ROWS = 25;

/** Messages of all channels by their words, with what was found in them. */
export function SearchView() {
  const { t } = useTranslation('channels');
  const terms = useSearch({ from: '/shell/search' });
  return (
    <Page title={t('search.title')}>
      <Stack gap="md">
        <SearchField key={terms.q} terms={terms} />
        <SearchFilters terms={terms} />
        {terms.q ? (
          <Results terms={terms} />
        ) : (
          <Empty icon={<Search size={32} aria-hidden />} title={t('search.begin')}>
            {t('search.beginHint')}
          </Empty>
        )}
      </Stack>
    </Page>
  );
}

function SearchField({ terms }: { terms: SearchTerms }) {
  const { t } = useTranslation(['channels', 'common']);
  const navigate = useNavigate();
  const [text, setText] = useState(terms.q ?? '');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const q = text.trim();
    void navigate({ to: '/search', search: { ...terms, q: q || undefined } });
  };
  return (
    <search>
      <form onSubmit={submit}>
        <TextInput
          size="md"
          type="search"
          autoFocus
          aria-label={t('search.field')}
          placeholder={t('search.field')}
          description={t('search.hint')}
          inputWrapperOrder={['input', 'description']}
          leftSection={<Search size={18} aria-hidden />}
          rightSectionWidth={84}
          rightSection={
            <Button type="submit" size="compact-sm">
              {t('common:action.search')}
            </Button>
          }
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
      </form>
    </search>
  );
}

function Results({ terms }: { terms: SearchTerms }) {
  const { t } = useTranslation(['channels', 'common']);
  const titles = useTitles();
  const input = inputOf(terms);
  const search = useInfiniteQuery({
    queryKey: [...trpc.search.messages.pathKey(), input],
    queryFn: ({ pageParam, signal }) =>
      api.search.messages.query({ ...input, skip: pageParam, limit: PAGE_ROWS }, { signal }),
    initialPageParam: 0,
    getNextPageParam: (page, pages) => (page.length < PAGE_ROWS ? undefined : pages.length * PAGE_ROWS),
    retry: (failures, error) => failures < 2 && isParleyError(error) && error.status >= 502,
  });
  const found = search.data?.pages.flat();
  return (
    <Stack gap={4} aria-live="polite" aria-busy={search.isFetching}>
      <ErrorNote error={search.error} />
      {search.isPending && <Loader size="sm" />}
      {found?.length === 0 && <Empty title={t('search.none')}>{t('search.noneHint')}</Empty>}
      {found?.map((message) => (
        <FoundMessage key={message.id} message={message} channelTitle={titles(message.channel)}>
          <Fragments fragments={message.fragments} />
        </FoundMessage>
      ))}
      <MoreButton list={search} />
    </Stack>
  );
}

/** The places of the matches. Fragments have no ids, and never change their order. */
function Fragments({ fragments }: Pick<Found, 'fragments'>) {
  return fragments.map((segments, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: see above
    <Text key={place} size="sm" component="span">
      {place > 0 && ' … '}
      {segments.map(({ text, is_match }, segment) =>
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        is_match ? <mark key={segment}>{text}</mark> : text,
      )}
    </Text>
  ));
}
