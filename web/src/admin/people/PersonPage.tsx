import { Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { useMe } from '../../api/session.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { AnchorTo } from '../../ui/links.tsx';
import { Page } from '../../ui/Page.tsx';
import { PersonDeletion } from './PersonDeletion.tsx';
import { PersonForm } from './PersonForm.tsx';
import { PersonGroups } from './PersonGroups.tsx';
import { PersonHead } from './PersonHead.tsx';
import { PersonKeys } from './PersonKeys.tsx';
import { PersonReach } from './PersonReach.tsx';
import { PersonSessions } from './PersonSessions.tsx';
import type { PersonDetail } from './person.ts';

export function PersonPage() {
  const { t } = useTranslation('admin');
  const { userId } = useParams({ from: '/shell/admin/people/$userId' });
  const { data: person, error, refetch } = useQuery(trpc.users.get.queryOptions({ id: userId }));
  return (
    <Page title={person?.name ?? t('section.people')}>
      <Stack gap="xl">
        <AnchorTo to="/admin/people" size="sm">
          {t('people.back')}
        </AnchorTo>
        {!person && <ErrorNote error={error} onRetry={refetch} />}
        {!person && !error && <Skeleton height={480} />}
        {person && <Parts key={person.id} person={person} />}
      </Stack>
    </Page>
  );
}

function Parts({ person }: { person: PersonDetail }) {
  const me = useMe();
  return (
    <>
      <PersonHead person={person} />
      <PersonForm person={person} />
      <PersonGroups person={person} />
      <PersonSessions person={person} />
      <PersonKeys person={person} />
      <PersonReach person={person} />
      {person.id !== me.id && <PersonDeletion person={person} />}
    </>
  );
}
