import { ActionIcon } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../api/query.ts';
import { useMe } from '../api/session.ts';
import { openOverlay } from '../base/overlay.ts';
import { useChannelTitle } from '../messages/title.ts';
import { personalCount } from '../ui/attention.ts';
import { ErrorNote } from '../ui/ErrorNote.tsx';
import classes from './ChannelList.module.css';
import { ChannelRow } from './list/ChannelRow.tsx';
import type { Listed } from './list/counts.ts';
import { Finders } from './list/Finders.tsx';
import { ListSkeleton } from './list/ListSkeleton.tsx';
import { type SectionName, sectionsOf } from './list/sections.ts';

const NAMES: SectionName[] = ['boards', 'groups', 'direct'];
/** Thousands of rows would make each key press slow. The commands find the channels that are not shown. */
const MOST_ROWS = 200;

/** The channels of the person in sections, with what is new in them. */
export function ChannelList() {
  const { t } = useTranslation('channels');
  const titleOf = useChannelTitle();
  const { role } = useMe();
  const { data, error } = useQuery(trpc.channels.list.queryOptions());
  const sections = sectionsOf(data ?? [], titleOf);
  return (
    <>
      <Finders />
      <ErrorNote error={error} />
      {!data && !error && <ListSkeleton />}
      {data &&
        NAMES.filter((name) => name !== 'boards' || role === 'admin' || sections.boards.length > 0).map(
          (name) => (
            <Section
              key={name}
              name={name}
              channels={sections[name]}
              onNew={
                name === 'boards' && role !== 'admin'
                  ? null
                  : () => openOverlay({ name: 'newChannel', kind: name })
              }
            />
          ),
        )}
      {data && (
        <button
          type="button"
          className={classes.more}
          onClick={() => openOverlay({ name: 'hiddenChannels' })}
        >
          {t('hidden.open')}
        </button>
      )}
    </>
  );
}

interface SectionProperties {
  name: SectionName;
  channels: Listed[];
  onNew: (() => void) | null;
}

function Section({ name, channels, onNew }: SectionProperties) {
  const { t } = useTranslation('channels');
  const titleOf = useChannelTitle();
  const { channelId } = useParams({ strict: false });
  const [showsAll, setShowsAll] = useState(false);
  const heading = `section-${name}`;
  const shown = channels.filter(
    (channel, index) =>
      showsAll || index < MOST_ROWS || channel.id === channelId || personalCount(channel) > 0,
  );
  return (
    <section className={classes.section} aria-labelledby={heading}>
      <div className={classes.head}>
        <h2 id={heading}>{t(`section.${name}`)}</h2>
        {onNew && (
          <ActionIcon
            variant="subtle"
            color="gray"
            size={24}
            aria-label={t(`new.${name}`)}
            title={t(`new.${name}`)}
            onClick={onNew}
          >
            <Plus size={15} aria-hidden />
          </ActionIcon>
        )}
      </div>
      <ul className={classes.rows}>
        {shown.map((channel) => (
          <ChannelRow
            key={channel.id}
            channel={channel}
            title={titleOf(channel)}
            isOpen={channel.id === channelId}
          />
        ))}
      </ul>
      {shown.length < channels.length && (
        <button type="button" className={classes.more} onClick={() => setShowsAll(true)}>
          {t('section.all', { count: channels.length })}
        </button>
      )}
    </section>
  );
}
