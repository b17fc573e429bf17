import { Button, Skeleton, Stack } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { Download } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { notify } from '../../base/notify.ts';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { AnchorTo } from '../../ui/links.tsx';
import { Page } from '../../ui/Page.tsx';
import { Part } from '../../ui/Part.tsx';
import { GroupForm } from './GroupForm.tsx';
import { GroupMembers } from './GroupMembers.tsx';
import { GroupPermissions } from './GroupPermissions.tsx';
import type { Group } from './group.ts';

export function GroupPage() {
  const { t } = useTranslation('admin');
  const { groupId } = useParams({ from: '/shell/admin/groups/$groupId' });
  const { data: group, error, refetch } = useQuery(trpc.groups.get.queryOptions({ id: groupId }));
  return (
    <Page title={group?.name ?? t('section.groups')}>
      <Stack gap="xl">
        <AnchorTo to="/admin/groups" size="sm">
          {t('groups.back')}
        </AnchorTo>
        <ErrorNote error={error} onRetry={refetch} />
        {group && <Parts key={group.id} group={group} />}
        {!group && !error && <Skeleton height={360} />}
      </Stack>
    </Page>
  );
}

function Parts({ group }: { group: Group }) {
  const { t } = useTranslation('admin');
  const queryClient = useQueryClient();
  const update = useMutation(
    trpc.groups.update.mutationOptions({
      meta: { showsError: true },
      async onSuccess() {
        await Promise.all([
          queryClient.invalidateQueries(trpc.groups.pathFilter()),
          queryClient.invalidateQueries(trpc.preview.pathFilter()),
        ]);
        void notify({ message: t('saved') });
      },
    }),
  );
  return (
    <>
      <Part
        title={t('groups.about')}
        actions={
          <Button
            component="a"
            size="xs"
            variant="default"
            leftSection={<Download size={15} aria-hidden />}
            href={`/api/v1/groups/id/${group.id}/export`}
            download={`${group.name}.json`}
          >
            {t('groups.export')}
          </Button>
        }
      >
        <GroupForm
          group={group}
          submit={t('common:action.save')}
          call={update}
          onSubmit={(_fields, changes) => update.mutate({ id: group.id, ...changes })}
        />
      </Part>
      <GroupMembers group={group} />
      <GroupPermissions group={group} />
      <Deletion group={group} />
    </>
  );
}

function Deletion({ group }: { group: Group }) {
  const { t } = useTranslation('admin');
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation(
    trpc.groups.delete.mutationOptions({
      async onSuccess() {
        await navigate({ to: '/admin/groups' });
        queryClient.removeQueries(trpc.groups.get.queryFilter({ id: group.id }));
        // The groups below have another parent now.
        await queryClient.invalidateQueries(trpc.groups.pathFilter());
      },
    }),
  );
  return (
    <Part title={t('groups.delete')} hint={t('groups.deleteHint')}>
      <div>
        <ConfirmButton
          label={t('groups.delete')}
          color="red"
          variant="light"
          size="xs"
          title={t('groups.deleteTitle', { name: group.name })}
          confirm={t('groups.delete')}
          onConfirm={() => remove.mutateAsync({ id: group.id })}
        >
          {t('groups.deleteHint')}
        </ConfirmButton>
      </div>
    </Part>
  );
}
