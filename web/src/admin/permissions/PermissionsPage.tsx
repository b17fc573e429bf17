import { Skeleton, Stack, Tabs, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { Page } from '../../ui/Page.tsx';
import { ExplainForm } from './ExplainForm.tsx';
import { PermissionSwitches } from './PermissionSwitches.tsx';
import type { Tree } from './words.ts';

export function PermissionsPage() {
  const { t } = useTranslation('admin');
  const { view, user } = useSearch({ from: '/shell/admin/permissions' });
  const navigate = useNavigate();
  return (
    <Page title={t('section.permissions')}>
      <Tabs
        value={view ?? 'defaults'}
        keepMounted={false}
        onChange={(next) =>
          void navigate({ to: '/admin/permissions', search: next === 'explain' ? { view: next } : {} })
        }
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="defaults">{t('permissions.defaults')}</Tabs.Tab>
          <Tabs.Tab value="explain">{t('explain.title')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="defaults">
          <Defaults />
        </Tabs.Panel>
        <Tabs.Panel value="explain">
          <ExplainForm firstUserId={user} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function Defaults() {
  const { t } = useTranslation('admin');
  const queryClient = useQueryClient();
  const { data, error, refetch } = useQuery(trpc.permissions.getDefault.queryOptions());
  const save = useMutation(
    trpc.permissions.setDefault.mutationOptions({
      // One after the other, since each change sends the whole tree.
      scope: { id: 'permissions' },
      onSuccess: (stored) => queryClient.setQueryData(trpc.permissions.getDefault.queryKey(), stored),
    }),
  );
  if (error) return <ErrorNote error={error} onRetry={refetch} />;
  if (!data) return <Skeleton height={480} />;
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {t('permissions.defaultsHint')}
      </Text>
      <PermissionSwitches
        known={data}
        value={save.isPending ? save.variables : data}
        onChange={(next) => save.mutate(withSections(next))}
      />
    </Stack>
  );
}

/** The server wants these sections to be there, so that an old page does not take away what it does not know. */
const withSections = (tree: Tree) => ({
  workspace: {},
  sharing: {},
  chat: {},
  features: {},
  settings: {},
  access_grants: {},
  ...tree,
});
