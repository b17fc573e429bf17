import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Markdown } from '../../ui/markdown/Markdown.tsx';
import type { MessageBodyProperties } from '../types.ts';
import { AwaitedAnswer } from './AwaitedAnswer.tsx';
import classes from './body.module.css';
import { Failure } from './Failure.tsx';
import { Reasoning } from './Reasoning.tsx';
import { ReplyFoot } from './ReplyFoot.tsx';
import { type Reply, replyOf } from './reply.ts';
import { ToolCallView } from './ToolCallView.tsx';

/** A reply of a model: its thoughts, the tools that it called, its text, and how it ended. */
export function ModelReply({ message, isLive, channelId, onStop, onRetry }: MessageBodyProperties) {
  const { t } = useTranslation('replies');
  const reply = replyOf(message);
  // A reply that failed before its first word has the reason as its text.
  const content = reply.error && message.content === reply.error.message ? '' : message.content;
  const isThinking = isLive && content === '' && !reply.toolCalls.some(({ status }) => status === 'running');
  return (
    <div className={classes.reply} aria-busy={isLive}>
      {reply.reasoning && <Reasoning text={reply.reasoning} isLive={isThinking} />}
      {reply.toolCalls.length > 0 && (
        <ul className={classes.calls} aria-label={t('tools')}>
          {reply.toolCalls.map((call) => (
            <li key={call.id}>
              <ToolCallView call={call} isLive={isLive} />
              {isLive && call.awaitsAnswer && <AwaitedAnswer message={message} callId={call.id} />}
            </li>
          ))}
        </ul>
      )}
      {content && <Markdown text={content} isLive={isLive} />}
      {isThinking && !reply.reasoning && (
        <Text c="dimmed" className={classes.waiting}>
          {t('writes')}
        </Text>
      )}
      {!isLive && reply.error && <Failure message={message} error={reply.error} onRetry={onRetry} />}
      {!isLive && <Notes reply={reply} />}
      <ReplyFoot message={message} reply={reply} isLive={isLive} channelId={channelId} onStop={onStop} />
    </div>
  );
}

/** What the reader should know of how the reply came about. */
function Notes({ reply: { isStopped, hasTools, leftOut } }: { reply: Reply }) {
  const { t } = useTranslation('replies');
  const notes = [
    isStopped && t('stopped'),
    !hasTools && t('withoutTools'),
    leftOut.messages > 0 && t('leftOut.messages', { count: leftOut.messages }),
    leftOut.images > 0 && t('leftOut.images', { count: leftOut.images }),
    leftOut.files > 0 && t('leftOut.files', { count: leftOut.files }),
  ].filter((note) => note !== false);
  if (notes.length === 0) return null;
  return (
    <Text size="xs" c="dimmed">
      {notes.join(' ')}
    </Text>
  );
}
