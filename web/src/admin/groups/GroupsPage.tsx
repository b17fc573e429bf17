import { Button, Modal } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Plus, UsersRound } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { Empty } from '../../ui/Empty.tsx';
import { AnchorTo } from '../../ui/links.tsx';
import { type Column, DataTable } from '../../ui/list/DataTable.tsx';
import { Page } from '../../ui/Page.tsx';
import { GroupForm } from './GroupForm.tsx';
import { type Group, shareOf } from './group.ts';

export function GroupsPage() {
  const { t } = useTranslation('admin');
  const [isCreating, { open, close }] = useDisclosure(false);
  const { data, error, refetch } = useQuery(trpc.groups.list.queryOptions({}));
  const add = (
    <Button size="xs" leftSection={<Plus size={15} aria-hidden />} onClick={open}>
      {t('groups.create')}
    </Button>
  );
  return (
    <Page title={t('section.groups')} actions={add} wide>
      <DataTable
        label={t('section.groups')}
        columns={useColumns(data ?? [])}
        rows={data}
        keyOf={({ id }) => id}
        error={error}
        reload={() => void refetch()}
        empty={
          <Empty icon={<UsersRound size={32} aria-hidden />} title={t('groups.empty')}>
            {t('groups.emptyHint')}
          </Empty>
        }
      />
      <CreateModal opened={isCreating} onClose={close} />
    </Page>
  );
}

function useColumns(groups: Group[]): Column<Group>[] {
  const { t } = useTranslation('admin');
  const nameOf = new Map(groups.map(({ id, name }) => [id, name]));
  return [
    {
      key: 'name',
      label: t('groups.name'),
      render: ({ id, name }) => (
        <AnchorTo to="/admin/groups/$groupId" params={{ groupId: id }} size="sm" fw={500}>
          {name}
        </AnchorTo>
      ),
    },
    {
      key: 'description',
      label: t('groups.description'),
      render: ({ description }) => description,
      isWide: true,
    },
    {
      key: 'parent',
      label: t('groups.parent'),
      width: 180,
      isWide: true,
      render: ({ parent_group_id: id }) =>
        id && (
          <AnchorTo to="/admin/groups/$groupId" params={{ groupId: id }} size="sm">
            {nameOf.get(id)}
          </AnchorTo>
        ),
    },
    { key: 'members', label: t('groups.members'), render: ({ member_count }) => member_count, width: 100 },
    {
      key: 'share',
      label: t('groups.share'),
      render: (group) => t(`groups.shares.${shareOf(group)}`),
      width: 240,
      isWide: true,
    },
  ];
}

function CreateModal({ opened, onClose }: { opened: boolean; onClose(): void }) {
  const { t } = useTranslation('admin');
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const create = useMutation(
    trpc.groups.create.mutationOptions({
      meta: { showsError: true },
      async onSuccess({ id }) {
        await queryClient.invalidateQueries(trpc.groups.pathFilter());
        await navigate({ to: '/admin/groups/$groupId', params: { groupId: id } });
      },
    }),
  );
  return (
    <Modal opened={opened} onClose={onClose} title={t('groups.create')}>
      <GroupForm submit={t('groups.create')} call={create} onSubmit={(values) => create.mutate(values)} />
    </Modal>
  );
}
