import { ActionIcon, Button, Text } from '@mantine/core';
import { ArrowDown } from 'lucide-react';
import { useMemo, useState, useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { Virtualizer } from 'virtua';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { useEntries } from '../outbox/current.ts';
import type { Entry } from '../outbox/entry.ts';
import { usePane } from '../pane.ts';
import { MessageRow } from '../row/MessageRow.tsx';
import { PendingRow } from '../row/PendingRow.tsx';
import type { Window } from '../store/window.ts';
import { Announcer } from './Announcer.tsx';
import { ListSkeleton } from './ListSkeleton.tsx';
import classes from './MessageList.module.css';
import { rowsOf } from './rows.ts';
import { useFocusedRow } from './useFocusedRow.ts';
import { useIsShift, useScroll } from './useScroll.ts';

interface Properties {
  label: string;
  editingId: string | null;
}

/** The messages of a channel or thread: only the rows in view are in the document. */
export function MessageList(properties: Properties) {
  const { t } = useTranslation('messages');
  const { store, channel, me, threadId } = usePane();
  const view = useSyncExternalStore(store.subscribe, store.window);
  const entries = useEntries(me.id, channel.id, threadId);
  const isEmpty = view.ids.length === 0 && entries.length === 0;
  if (view.status === 'failed' && isEmpty)
    return (
      <div className={classes.note}>
        <ErrorNote error={view.error} onRetry={() => void store.reload()} />
      </div>
    );
  if (view.status !== 'ready' && isEmpty) return <ListSkeleton />;
  if (isEmpty)
    return (
      <div className={classes.note}>
        <Text fw={600}>{t('list.start', { name: channel.name })}</Text>
        <Text c="dimmed">{channel.description || t('list.empty')}</Text>
      </div>
    );
  return <Rows view={view} entries={entries} {...properties} />;
}

interface RowsProperties extends Properties {
  view: Window;
  entries: readonly Entry[];
}

function Rows({ view, entries, label, editingId }: RowsProperties) {
  const { store } = usePane();
  const rows = useMemo(() => rowsOf(store, view, entries), [store, view, entries]);
  const [activeId, setActive] = useState<string | null>(null);
  const { list, scroller, onScroll, onResize, markedId, ...away } = useScroll(rows, view);
  const onKeyDown = useFocusedRow(rows, list, scroller, activeId, setActive);
  const isShift = useIsShift(rows);
  const kept = rows.flatMap(({ id }, index) => (id && (id === activeId || id === editingId) ? [index] : []));
  const tabStop = rows.some(({ id }) => id === activeId) ? activeId : rows.at(-1)?.id;
  return (
    <div className={classes.frame}>
      <div ref={scroller} className={classes.scroller} role="feed" aria-label={label} onKeyDown={onKeyDown}>
        <div className={classes.spacer} />
        <Virtualizer
          key={view.id}
          ref={list}
          scrollRef={scroller}
          data={rows}
          shift={isShift}
          keepMounted={kept}
          onScroll={onScroll}
          onResize={onResize}
        >
          {({ key, id, entry, ...row }) =>
            entry ? (
              <PendingRow key={key} entry={entry} {...row} />
            ) : (
              <MessageRow
                key={key}
                {...row}
                id={id ?? ''}
                isActive={id === activeId}
                isTabStop={id === tabStop}
                isMarked={id === markedId}
                isEditing={id === editingId}
                onActive={setActive}
              />
            )
          }
        </Virtualizer>
      </div>
      <ToEnd {...away} />
      <Announcer />
    </div>
  );
}

interface ToEndProperties {
  newCount: number;
  isAway: boolean;
  toEnd(): void;
}

/** Over the list while its end is out of view. */
function ToEnd({ newCount, isAway, toEnd }: ToEndProperties) {
  const { t } = useTranslation('messages');
  return (
    <div className={classes.float}>
      {newCount > 0 && (
        <Button size="xs" radius="xl" leftSection={<ArrowDown size={14} aria-hidden />} onClick={toEnd}>
          {t('list.new', { count: newCount })}
        </Button>
      )}
      {newCount === 0 && isAway && (
        <ActionIcon variant="default" radius="xl" size="lg" aria-label={t('list.toEnd')} onClick={toEnd}>
          <ArrowDown size={16} aria-hidden />
        </ActionIcon>
      )}
    </div>
  );
}
