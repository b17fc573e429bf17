import { Badge, Group, Skeleton, Stack, Tabs } from '@mantine/core';
import type { Tool } from '@parley/client';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../api/query.ts';
import { ErrorNote } from '../ui/ErrorNote.tsx';
import { Page } from '../ui/Page.tsx';
import { AccessTab } from './AccessTab.tsx';
import { Facts } from './edit/Facts.tsx';
import { ToolEditor } from './edit/ToolEditor.tsx';
import { PackagesTab } from './PackagesTab.tsx';
import { RunsTab } from './RunsTab.tsx';
import { RunTab } from './run/RunTab.tsx';
import { ToolMenu } from './ToolMenu.tsx';
import classes from './ToolPage.module.css';
import { ValvesTab } from './valves/ValvesTab.tsx';
import { VersionsTab } from './versions/VersionsTab.tsx';

/** One tool: its source for people who may change it, a form to run it, and what belongs to it. */
export function ToolPage() {
  const { t } = useTranslation('tools');
  const { toolId } = useParams({ from: '/shell/tools/$toolId' });
  const { data: tool, error, refetch } = useQuery(trpc.tools.get.queryOptions({ id: toolId }));
  return (
    <Page
      title={tool?.name ?? t('title')}
      actions={
        tool && (
          <Group gap="xs" wrap="nowrap">
            {!tool.write_access && (
              <Badge variant="light" color="gray" tt="none">
                {t('list.readOnly')}
              </Badge>
            )}
            <ToolMenu tool={tool} />
          </Group>
        )
      }
      wide
    >
      <ErrorNote error={error} onRetry={() => void refetch()} />
      {!tool && !error && (
        <Stack gap="sm">
          <Skeleton height={32} />
          <Skeleton height={360} />
        </Stack>
      )}
      {tool && <ToolTabs key={tool.id} tool={tool} />}
    </Page>
  );
}

/** What was typed stays while another tab is shown, and a running function goes on. */
const KEPT = new Set(['source', 'run', 'valves']);

function ToolTabs({ tool }: { tool: Tool }) {
  const { t } = useTranslation('tools');
  const { tab: wished } = useSearch({ from: '/shell/tools/$toolId' });
  const navigate = useNavigate();
  const tabs = tabsOf(tool);
  const names = Object.keys(tabs);
  const tab = wished && names.includes(wished) ? wished : names[0];
  return (
    <Tabs
      value={tab}
      onChange={(chosen) =>
        void navigate({ to: '/tools/$toolId', params: { toolId: tool.id }, search: { tab: chosen ?? '' } })
      }
      keepMounted={false}
      keepMountedMode="display-none"
    >
      <Tabs.List className={classes.tabs}>
        {names.map((name) => (
          <Tabs.Tab key={name} value={name}>
            {t(`tab.${name}`)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {Object.entries(tabs).map(([name, content]) => (
        <Tabs.Panel key={name} value={name} pt="md" keepMounted={KEPT.has(name)}>
          {content}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

function tabsOf(tool: Tool): Record<string, ReactNode> {
  const run = <RunTab tool={tool} />;
  const valves = <ValvesTab tool={tool} />;
  if (!tool.write_access) return { run, valves, about: <Facts tool={tool} /> };
  return {
    source: <ToolEditor tool={tool} />,
    run,
    valves,
    versions: <VersionsTab tool={tool} />,
    runs: <RunsTab toolId={tool.id} />,
    packages: <PackagesTab tool={tool} />,
    access: <AccessTab tool={tool} />,
  };
}
