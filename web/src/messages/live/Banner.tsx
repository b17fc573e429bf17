import { Button, Loader } from '@mantine/core';
import { useNetwork } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { useLiveState } from '../../api/live.ts';
import { useMe } from '../../api/session.ts';
import { sentenceOf } from '../../base/errors.ts';
import { useWaitingCount } from '../outbox/current.ts';
import classes from './live.module.css';
import { useIsAway, useMissed } from './useConnectionLoss.ts';

/** Says that the connection is away, and what is caught up when it is back. */
export function Banner() {
  const { t } = useTranslation('messages');
  const { t: common } = useTranslation();
  const { state, error } = useLiveState();
  const { online } = useNetwork();
  const waiting = useWaitingCount(useMe().id);
  const isAway = useIsAway(state === 'connecting' || !online);
  const missed = useMissed(isAway, state === 'live');
  if (state === 'ended' && error)
    return (
      <div className={classes.banner} role="alert">
        {sentenceOf(error)}
        <Button size="compact-xs" variant="default" onClick={() => window.location.reload()}>
          {common('error.retry')}
        </Button>
      </div>
    );
  if (isAway)
    return (
      <div className={classes.banner} role="status">
        <Loader size={14} />
        <span>{t(online ? 'banner.away' : 'banner.offline')}</span>
        {waiting > 0 && <span>{t('banner.waiting', { count: waiting })}</span>}
      </div>
    );
  if (missed === null) return null;
  return (
    <div className={classes.banner} role="status">
      <Loader size={14} />
      {t('banner.catchingUp', { count: missed })}
    </div>
  );
}
