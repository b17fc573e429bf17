import { Alert, Badge, Group, Loader, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { CodeEditor } from '../../ui/code/CodeEditor.tsx';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { duration } from '../format.ts';
import { EventLine } from './EventLine.tsx';
import type { Run } from './useRun.ts';

const COLORS = { idle: 'gray', running: 'blue', done: 'teal', failed: 'red', stopped: 'gray' } as const;

/** What a run has told so far, and its result. */
export function RunOutput({ run }: { run: Run }) {
  const { t } = useTranslation('tools');
  if (run.state === 'idle')
    return (
      <Text c="dimmed" size="sm">
        {t('run.empty')}
      </Text>
    );
  return (
    <Stack gap="sm">
      <Group gap="xs" role="status">
        {run.state === 'running' && <Loader size={14} aria-hidden />}
        <Badge variant="dot" color={COLORS[run.state]} tt="none">
          {t(`run.state.${run.state}`)}
        </Badge>
        <Text size="sm" ff="monospace">
          {run.function}
        </Text>
        {run.durationMs !== null && (
          <Text size="sm" c="dimmed">
            {duration(run.durationMs)}
          </Text>
        )}
      </Group>
      {run.events.length > 0 && (
        <Stack gap={4} component="ol" m={0} p={0} aria-label={t('run.events')}>
          {run.events.map((event, index) => (
            // Events are only ever added.
            // biome-ignore lint/suspicious/noArrayIndexKey: see above
            <EventLine key={index} event={event} />
          ))}
        </Stack>
      )}
      <ErrorNote error={run.error} />
      {run.state === 'stopped' && <Alert color="gray">{t('run.stopped')}</Alert>}
      {run.state === 'done' && <Result value={run.result} />}
    </Stack>
  );
}

function Result({ value }: { value: unknown }) {
  const { t } = useTranslation('tools');
  if (value === null || value === undefined || value === '')
    return (
      <Text c="dimmed" size="sm">
        {t('run.noResult')}
      </Text>
    );
  const isText = typeof value === 'string';
  const text = isText ? value : JSON.stringify(value, null, 2);
  return (
    <CodeEditor
      label={t('run.result')}
      language={isText ? 'text' : 'json'}
      value={text}
      height={Math.min(24, Math.max(3, text.split('\n').length))}
      isReadOnly
    />
  );
}
