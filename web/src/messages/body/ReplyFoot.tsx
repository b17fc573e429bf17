import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Square } from 'lucide-react';
import { lazy } from 'react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import { useMe } from '../../api/session.ts';
import { OpenOnClick } from '../../ui/OpenOnClick.tsx';
import type { Message } from '../types.ts';
import classes from './body.module.css';
import type { Reply } from './reply.ts';
import { UsageButton } from './UsageButton.tsx';

const UsageDetail = lazy(() => import('./UsageDetail.tsx'));

interface Properties {
  message: Message;
  reply: Reply;
  isLive: boolean;
  channelId: string;
  onStop(): void;
}

/** The stop button while the model writes, afterwards its usage, in the same room. */
export function ReplyFoot({ message, reply: { usage }, isLive, channelId, onStop }: Properties) {
  if (!isLive && !usage) return null;
  return (
    <div className={classes.foot}>
      {isLive ? (
        <Stop callerId={message.user_id} channelId={channelId} onStop={onStop} />
      ) : (
        usage && (
          <OpenOnClick button={(open) => <UsageButton usage={usage} onClick={open} />}>
            <UsageDetail usage={usage} />
          </OpenOnClick>
        )
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
