import { Anchor, Loader, Text } from '@mantine/core';
import { CircleAlert, Wrench } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { CodeBlock } from '../../ui/markdown/CodeBlock.tsx';
import classes from './body.module.css';
import { Fold } from './Fold.tsx';
import { durationOf, type ToolCall } from './reply.ts';

/** One call of a tool: a line with its state, which folds open to all that is known of it. */
export function ToolCallView({ call, isLive }: { call: ToolCall; isLive: boolean }) {
  const { t, i18n } = useTranslation('replies');
  const { name, status, statuses, durationMs, awaitsAnswer } = call;
  // A call that runs in a reply that has ended was cut off.
  const state = status === 'running' && !isLive ? 'cut' : status;
  const running = awaitsAnswer ? t('call.waits') : (statuses.at(-1) ?? t('call.running'));
  const detail = state === 'running' ? running : null;
  const summary = (
    <>
      {state === 'running' && <Loader size={12} aria-hidden />}
      {state === 'done' && <Wrench size={14} aria-hidden />}
      {(state === 'failed' || state === 'cut') && (
        <CircleAlert size={14} aria-hidden className={classes.failed} />
      )}
      <Text span size="sm" fw={500}>
        {name}
      </Text>
      <Text span size="xs" c="dimmed" truncate>
        {detail ?? t(`call.${state}`)}
        {durationMs !== null && ` · ${durationOf(durationMs, i18n.language)}`}
      </Text>
    </>
  );
  return <Fold summary={summary}>{() => <CallDetails call={call} />}</Fold>;
}

function CallDetails({ call: { toolId, arguments: sent, statuses, result, files } }: { call: ToolCall }) {
  const { t } = useTranslation('replies');
  return (
    <>
      <Text size="xs" c="dimmed">
        {t('call.tool', { id: toolId })}
      </Text>
      <Part title={t('call.arguments')} text={sent} />
      {statuses.length > 0 && (
        <>
          <Title>{t('call.statuses')}</Title>
          <ol className={classes.statuses}>
            {statuses.map((line, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity than their place
              <li key={index}>{line}</li>
            ))}
          </ol>
        </>
      )}
      {result !== null && <Part title={t('call.result')} text={result} />}
      {files.length > 0 && <Title>{t('call.files')}</Title>}
      {files.map(({ id, name }) => (
        <Anchor
          key={id}
          size="sm"
          href={`/api/v1/files/${encodeURIComponent(id)}/content`}
          target="_blank"
          rel="noopener"
        >
          {name}
        </Anchor>
      ))}
    </>
  );
}

const Title = ({ children }: { children: string }) => (
  <Text size="xs" fw={600} mt={4}>
    {children}
  </Text>
);

function Part({ title, text }: { title: string; text: string }) {
  const json = indented(text);
  return (
    <>
      <Title>{title}</Title>
      <CodeBlock code={json ?? text} language={json === null ? '' : 'json'} />
    </>
  );
}

/** JSON over several lines; null for other texts. */
function indented(text: string): string | null {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}
