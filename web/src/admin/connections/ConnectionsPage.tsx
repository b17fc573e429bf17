import { Alert, Badge, Button, Group, Menu, Stack, Switch, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ChevronDown, Lock, Plug } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { Empty } from '../../ui/Empty.tsx';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { Page } from '../../ui/Page.tsx';
import { invalidate, send } from '../settings/useDrafts.ts';
import { ConnectionRow } from './ConnectionRow.tsx';
import classes from './connections.module.css';
import { baseUrlOf, type Connection, type Kind, SECTION, type State, settingNamed } from './connections.ts';
import { useConnections } from './useConnections.ts';

interface Opened {
  kind: Kind;
  index: number;
}

const ConnectionDialog = lazy(() => import('./ConnectionDialog.tsx'));
const ASKING_MS = 1500;

export function ConnectionsPage() {
  const { t } = useTranslation(['config', 'admin']);
  const { lists } = useConnections();
  const [opened, setOpened] = useState<Opened | null>(null);
  const states = useQuery(
    trpc.providers.list.queryOptions(
      {},
      {
        staleTime: 0,
        // A list of models is fetched in the background, and no event tells when it has come.
        refetchInterval: ({ state: { data } }) =>
          data?.some(({ state }) => state === 'asking') ? ASKING_MS : false,
      },
    ),
  );
  const add = <AddMenu onAdd={(kind) => setOpened({ kind, index: lists[kind].length })} />;
  const isEmpty = lists.hosted.length + lists.ollama.length === 0;
  return (
    <Page title={t('admin:section.connections')} wide actions={!isEmpty && add}>
      <Stack gap="lg" maw={960}>
        <ErrorNote error={states.error} />
        {isEmpty && (
          <Empty icon={<Plug size={32} aria-hidden />} title={t('connection.empty')} action={add}>
            {t('connection.emptyHint')}
          </Empty>
        )}
        <OnBoard states={states.data ?? []} />
        {(['hosted', 'ollama'] as const).map((kind) => (
          <KindList
            key={kind}
            kind={kind}
            connections={lists[kind]}
            states={states.data}
            onOpen={(index) => setOpened({ kind, index })}
          />
        ))}
      </Stack>
      {opened && (
        <Suspense>
          <ConnectionDialog {...opened} onClose={() => setOpened(null)} />
        </Suspense>
      )}
    </Page>
  );
}

function AddMenu({ onAdd }: { onAdd(kind: Kind): void }) {
  const { t } = useTranslation('config');
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button size="xs" rightSection={<ChevronDown size={14} aria-hidden />}>
          {t('connection.add')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => onAdd('hosted')}>{t('connection.kind.hosted')}</Menu.Item>
        <Menu.Item onClick={() => onAdd('ollama')}>{t('connection.kind.ollama')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** While no connection is configured, the model on board answers. */
function OnBoard({ states }: { states: State[] }) {
  const { t } = useTranslation('config');
  const board = states.find(({ kind }) => kind === 'board');
  if (!board) return null;
  return (
    <Alert variant="light" color="gray">
      <Group gap="xs">
        <Text size="sm">{t('connection.board')}</Text>
        <Badge variant="light" tt="none" color={board.state === 'ok' ? 'green' : 'gray'}>
          {t(`connection.state.${board.state}`, { count: board.models })}
        </Badge>
      </Group>
    </Alert>
  );
}

interface KindProperties {
  kind: Kind;
  connections: Connection[];
  /** Undefined until they are known. */
  states: State[] | undefined;
  onOpen(index: number): void;
}

/** All connections of one kind, with the switch for all of them. */
function KindList({ kind, connections, states, onOpen }: KindProperties) {
  const { t } = useTranslation('config');
  if (connections.length === 0) return null;
  return (
    <section aria-label={t(`connection.kind.${kind}`)}>
      <Group justify="space-between" gap="xs">
        <Title order={2} size="h4">
          {t(`connection.kind.${kind}`)}
        </Title>
        <KindSwitch kind={kind} />
      </Group>
      <ul className={classes.list}>
        {connections.map((connection, index) => (
          <ConnectionRow
            // A connection has no identity but its place.
            // biome-ignore lint/suspicious/noArrayIndexKey: see above
            key={index}
            connection={connection}
            index={index}
            state={stateOf(states, connections, index)}
            onOpen={() => onOpen(index)}
          />
        ))}
      </ul>
    </section>
  );
}

function KindSwitch({ kind }: { kind: Kind }) {
  const { t } = useTranslation('config');
  const { settings } = useConnections();
  const queryClient = useQueryClient();
  const setting = settingNamed(settings, kind, 'enable');
  const change = useMutation({
    mutationFn: (isOn: boolean) => send([[`${SECTION[kind]}.enable`, isOn]]),
    onSuccess: () => invalidate(queryClient),
  });
  return (
    <Group gap="xs">
      {setting?.locked && (
        <Text size="xs" c="dimmed">
          <Lock size={12} aria-hidden /> {t('setting.isLocked', { variable: setting.variable })}
        </Text>
      )}
      <Switch
        label={t('connection.useKind')}
        checked={setting?.value === true}
        disabled={setting?.locked || change.isPending}
        onChange={({ currentTarget: { checked } }) => change.mutate(checked)}
      />
    </Group>
  );
}

/** Connections with the same address stand in their order. */
function stateOf(states: State[] | undefined, connections: Connection[], index: number): State | undefined {
  const connection = connections[index];
  if (!connection || connection.config.enable === false) return undefined;
  const isSameUrl = (other: Connection) =>
    baseUrlOf(other) === baseUrlOf(connection) && other.config.enable !== false;
  const nth = connections.slice(0, index).filter(isSameUrl).length;
  return states?.filter(({ kind, url }) => kind === connection.kind && url === baseUrlOf(connection))[nth];
}
