import { Button, Popover, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Square } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { useMe } from '../../api/session.ts';
import type { Message } from '../types.ts';
import classes from './body.module.css';
import { durationOf, type Reply, type Usage } from './reply.ts';

interface Properties {
  message: Message;
  reply: Reply;
  isLive: boolean;
  channelId: string;
  onStop(): void;
}

/** The stop button while the model writes, afterwards its usage, in the same room. */
export function ReplyFoot({ message, reply, isLive, channelId, onStop }: Properties) {
  if (!isLive && !reply.usage) return null;
  return (
    <div className={classes.foot}>
      {isLive ? (
        <Stop callerId={message.user_id} channelId={channelId} onStop={onStop} />
      ) : (
        reply.usage && <UsageDetail usage={reply.usage} />
      )}
    </div>
  );
}

interface StopProperties {
  /** The person who called the model. */
  callerId: string;
  channelId: string;
  onStop(): void;
}

function Stop({ callerId, channelId, onStop }: StopProperties) {
  const { t } = useTranslation('replies');
  const me = useMe();
  const { data: channel } = useQuery(trpc.channels.get.queryOptions({ id: channelId }));
  if (callerId !== me.id && me.role !== 'admin' && !channel?.is_manager) return null;
  return (
    <Button
      size="compact-xs"
      variant="default"
      leftSection={<Square size={10} fill="currentColor" aria-hidden />}
      onClick={onStop}
    >
      {t('stop')}
    </Button>
  );
}

function UsageDetail({ usage }: { usage: Usage }) {
  const { t, i18n } = useTranslation('replies');
  const { totalMs, totalTokens, firstTokenMs } = usage;
  const duration = (ms: number | null) => (ms === null ? null : durationOf(ms, i18n.language));
  const brief = [
    duration(totalMs),
    totalTokens > 0 ? t('usage.tokens', { count: totalTokens }) : null,
  ].filter((part) => part !== null);
  const rows: [string, string | null][] = [
    ['first', duration(firstTokenMs)],
    ['total', duration(totalMs)],
    ['prompt', usage.promptTokens.toLocaleString(i18n.language)],
    ['cached', usage.cachedTokens > 0 ? usage.cachedTokens.toLocaleString(i18n.language) : null],
    ['completion', usage.completionTokens.toLocaleString(i18n.language)],
    ['finish', usage.finishReason || null],
  ];
  return (
    <Popover position="bottom-start" withinPortal>
      <Popover.Target>
        <UnstyledButton className={classes.usage} aria-label={t('usage.label', { brief: brief.join(', ') })}>
          {brief.join(' · ')}
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown p="xs">
        <dl className={classes.figures}>
          {rows.map(
            ([name, value]) =>
              value !== null && (
                <div key={name}>
                  <dt>{t(`usage.${name}`)}</dt>
                  <dd>{value}</dd>
                </div>
              ),
          )}
        </dl>
      </Popover.Dropdown>
    </Popover>
  );
}
