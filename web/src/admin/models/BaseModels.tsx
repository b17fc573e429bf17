import {
  ActionIcon,
  Badge,
  Button,
  Group,
  Skeleton,
  Stack,
  Switch,
  Table,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Boxes, RefreshCw, Search } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/client.ts';
import { trpc } from '../../api/query.ts';
import { Empty } from '../../ui/Empty.tsx';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { rowsOf } from '../../ui/grants/grants.ts';
import { ButtonTo } from '../../ui/links.tsx';
import { type Offered, useOffered } from './offered.ts';

const ShareDialog = lazy(() => import('./ShareDialog.tsx'));
/** More rows than this are found by the search. */
const MOST_ROWS = 100;

/** The models that the connections offer: on or off, and who may use them. */
export function BaseModels() {
  const { t } = useTranslation('config');
  const [query, setQuery] = useState('');
  const { models, error } = useOffered();
  const wanted = query.trim().toLowerCase();
  const found = (models ?? []).filter(({ id, name }) => `${id} ${name}`.toLowerCase().includes(wanted));
  return (
    <section aria-label={t('model.base')}>
      <Group justify="space-between" gap="xs" mb="xs">
        <div>
          <Title order={2} size="h4">
            {t('model.base')}
          </Title>
          <Text size="sm" c="dimmed">
            {t('model.baseHint')}
          </Text>
        </div>
        <Group gap="xs">
          <TextInput
            size="xs"
            type="search"
            aria-label={t('model.search')}
            placeholder={t('model.search')}
            leftSection={<Search size={14} aria-hidden />}
            value={query}
            onChange={({ currentTarget: { value } }) => setQuery(value)}
          />
          <Refresh />
        </Group>
      </Group>
      <ErrorNote error={error} />
      {!models && !error && <Skeleton height={160} />}
      {models?.length === 0 && (
        <Empty
          icon={<Boxes size={32} aria-hidden />}
          title={t('model.empty')}
          action={<ButtonTo to="/admin/connections">{t('model.toConnections')}</ButtonTo>}
        >
          {t('model.emptyHint')}
        </Empty>
      )}
      {found.length > 0 && <Models models={found.slice(0, MOST_ROWS)} />}
      {found.length > MOST_ROWS && (
        <Text size="sm" c="dimmed" mt="xs">
          {t('model.more', { count: found.length - MOST_ROWS })}
        </Text>
      )}
    </section>
  );
}

function Refresh() {
  const { t } = useTranslation('config');
  const queryClient = useQueryClient();
  const refresh = useMutation({
    mutationFn: () => api.models.list.query({ refresh: true }),
    onSuccess: () => queryClient.invalidateQueries(trpc.models.pathFilter()),
  });
  return (
    <ActionIcon
      variant="default"
      size={30}
      aria-label={t('model.refresh')}
      title={t('model.refresh')}
      loading={refresh.isPending}
      onClick={() => refresh.mutate()}
    >
      <RefreshCw size={14} aria-hidden />
    </ActionIcon>
  );
}

function Models({ models }: { models: Offered[] }) {
  const { t } = useTranslation('config');
  return (
    <Table.ScrollContainer minWidth={340}>
      <Table verticalSpacing={6} fz="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('model.name')}</Table.Th>
            <Table.Th visibleFrom="sm">{t('model.connection')}</Table.Th>
            <Table.Th>{t('model.access')}</Table.Th>
            <Table.Th>{t('model.on')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {models.map((model) => (
            <ModelRow key={model.id} model={model} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function ModelRow({ model }: { model: Offered }) {
  const { t } = useTranslation('config');
  const { id, name, connections } = model;
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={500}>
          {name}
        </Text>
        {name !== id && (
          <Text size="xs" c="dimmed">
            {id}
          </Text>
        )}
      </Table.Td>
      <Table.Td visibleFrom="sm">{connections.join(', ')}</Table.Td>
      <Table.Td>
        <Access model={model} />
      </Table.Td>
      <Table.Td>
        <OnSwitch model={model} label={t('model.use', { name })} />
      </Table.Td>
    </Table.Tr>
  );
}

/** Who may use it, and the dialog that changes it. */
function Access({ model }: { model: Offered }) {
  const { t } = useTranslation('config');
  const [isOpen, setOpen] = useState(false);
  const rows = rowsOf(model.grants);
  const everyone = rows.some(({ id }) => id === '*') || model.isOpen;
  return (
    <Group gap="xs" wrap="nowrap">
      <Badge variant="light" tt="none" color={everyone ? 'green' : 'gray'}>
        {everyone ? t('model.everyone') : t('model.shared', { count: rows.length })}
      </Badge>
      <Button
        size="compact-xs"
        variant="default"
        aria-label={t('model.shareName', { name: model.name })}
        onClick={() => setOpen(true)}
      >
        {t('model.share')}
      </Button>
      {isOpen && (
        <Suspense>
          <ShareDialog model={model} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </Group>
  );
}

function OnSwitch({ model, label }: { model: Offered; label: string }) {
  const queryClient = useQueryClient();
  const toggle = useMutation({
    async mutationFn() {
      if (model.hasRecord) await api.models.toggle.mutate({ id: model.id });
      else await api.models.create.mutate({ id: model.id, name: model.name, is_active: false });
    },
    onSuccess: () =>
      Promise.all([
        queryClient.invalidateQueries(trpc.models.pathFilter()),
        queryClient.invalidateQueries(trpc.modelWorkspace.pathFilter()),
      ]),
  });
  return (
    <Stack gap={0}>
      <Switch
        aria-label={label}
        checked={model.isActive}
        disabled={toggle.isPending}
        onChange={() => toggle.mutate()}
      />
    </Stack>
  );
}
