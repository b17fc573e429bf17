import { useQuery } from '@tanstack/react-query';
import { useNavigate, useRouter } from '@tanstack/react-router';
import {
  Boxes,
  CircleUserRound,
  Hash,
  Keyboard,
  MessagesSquare,
  Plus,
  Search,
  Settings2,
  UsersRound,
  Wrench,
} from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { useMe } from '../../api/session.ts';
import { type Overlay, openOverlay } from '../../base/overlay.ts';
import { useWriteTo } from '../../channels/useWriteTo.ts';
import { useChannelTitle } from '../../messages/title.ts';
import { usePeopleSearch } from '../../ui/grants/principals.ts';
import { Person } from '../../ui/Person.tsx';

export interface Command {
  key: string;
  label: string;
  detail?: string | undefined;
  icon: ReactNode;
  run(): void;
}

export interface CommandGroup {
  label: string;
  commands: Command[];
}

const MOST = 6;
const ICON = { size: 18, 'aria-hidden': true } as const;

/** What fits the query, in groups; without one, the channels with news and the pages. */
export function useCommands(query: string): CommandGroup[] {
  const { t } = useTranslation('commands');
  const channels = useChannelCommands();
  const people = usePeopleCommands(query);
  const tools = useToolCommands(query);
  const pages = usePageCommands();
  const actions = useActionCommands(query);
  const fits = (commands: Command[]) => matching(commands, query).slice(0, MOST);
  return [
    { label: t('group.channels'), commands: fits(channels) },
    { label: t('group.people'), commands: people.slice(0, MOST) },
    { label: t('group.tools'), commands: fits(tools) },
    { label: t('group.pages'), commands: fits(pages) },
    {
      label: t('group.actions'),
      commands: actions
        .filter(({ key }) => key === 'find')
        .concat(fits(actions.filter(({ key }) => key !== 'find'))),
    },
  ];
}

/** Those whose name has all words of the query, the ones that begin with it first. */
function matching(commands: Command[], query: string): Command[] {
  const words = query.toLowerCase().split(/\s+/);
  const begins = ({ label }: Command) => (label.toLowerCase().startsWith(words[0] ?? '') ? 0 : 1);
  return commands
    .filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)))
    .toSorted((one, other) => begins(one) - begins(other));
}

function useChannelCommands(): Command[] {
  const navigate = useNavigate();
  const titleOf = useChannelTitle();
  const { data = [] } = useQuery(trpc.channels.list.queryOptions());
  const attention = (channel: (typeof data)[number]) => channel.mention_count * 1000 + channel.unread_count;
  return data
    .toSorted((one, other) => attention(other) - attention(one))
    .map((channel) => ({
      key: channel.id,
      label: titleOf(channel),
      detail: channel.description ?? undefined,
      icon: channel.type ? <UsersRound {...ICON} /> : <Hash {...ICON} />,
      run: () => void navigate({ to: '/channels/$channelId', params: { channelId: channel.id } }),
    }));
}

function usePeopleCommands(query: string): Command[] {
  const write = useWriteTo();
  const { data } = usePeopleSearch(query, query !== '');
  if (query === '') return [];
  return (data?.users ?? [])
    .filter(({ role }) => role !== 'pending')
    .map(({ id, name, email }) => ({
      key: id,
      label: name,
      detail: email ?? undefined,
      icon: <Person id={id} name={name} size={22} />,
      run: () => write.mutate(id),
    }));
}

function useToolCommands(query: string): Command[] {
  const router = useRouter();
  const { data = [] } = useQuery(trpc.tools.list.queryOptions(undefined, { enabled: query !== '' }));
  if (query === '') return [];
  return data.map(({ id, name, meta }) => ({
    key: `tool ${id}`,
    label: name,
    detail: meta.description ?? undefined,
    icon: <Wrench {...ICON} />,
    run: () => router.history.push(`/tools/${encodeURIComponent(id)}`),
  }));
}

function usePageCommands(): Command[] {
  const { t } = useTranslation('common');
  const navigate = useNavigate();
  const { role } = useMe();
  const page = (to: string, label: string, icon: ReactNode): Command => ({
    key: to,
    label,
    icon,
    run: () => void navigate({ to }),
  });
  return [
    page('/tools', t('nav.tools'), <Wrench {...ICON} />),
    page('/models', t('nav.models'), <Boxes {...ICON} />),
    page('/threads', t('channels:threads.title'), <MessagesSquare {...ICON} />),
    page('/account', t('nav.account'), <CircleUserRound {...ICON} />),
    ...(role === 'admin' ? [page('/admin', t('nav.admin'), <Settings2 {...ICON} />)] : []),
  ];
}

function useActionCommands(query: string): Command[] {
  const { t } = useTranslation(['commands', 'channels']);
  const navigate = useNavigate();
  const { role } = useMe();
  const opens = (key: string, label: string, icon: ReactNode, overlay: Overlay): Command => ({
    key,
    label,
    icon,
    // The palette closes first.
    run: () => window.setTimeout(() => openOverlay(overlay)),
  });
  const kinds =
    role === 'admin' ? (['boards', 'groups', 'direct'] as const) : (['groups', 'direct'] as const);
  return [
    {
      key: 'find',
      label: query ? t('find', { query }) : t('channels:search.title'),
      icon: <Search {...ICON} />,
      run: () => void navigate({ to: '/search', search: query ? { q: query } : {} }),
    },
    ...kinds.map((kind) =>
      opens(kind, t(`channels:new.${kind}`), <Plus {...ICON} />, { name: 'newChannel', kind }),
    ),
    opens('shortcuts', t('keys.title'), <Keyboard {...ICON} />, { name: 'shortcuts' }),
  ];
}
