import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { MessagesSquare, Search } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { trpc } from '../../api/query.ts';
import rowClasses from './ChannelRow.module.css';
import { countText } from './counts.ts';

/** More unread threads than this are not counted. */
export const THREADS_COUNTED = 20;

/** The ways to messages of all channels: search and threads. */
export function Finders() {
  const { t } = useTranslation('channels');
  const { data: unread = [] } = useQuery(
    trpc.threads.list.queryOptions({ unread: true, limit: THREADS_COUNTED }, { staleTime: 5 * 60_000 }),
  );
  return (
    <ul style={{ listStyle: 'none', margin: 0, padding: 0 }}>
      <li className={rowClasses.row}>
        <Link to="/search" className={rowClasses.link} activeProps={{ 'data-active': '' }}>
          <Search size={16} className={rowClasses.sign} aria-hidden />
          <span className={rowClasses.title}>{t('search.title')}</span>
        </Link>
      </li>
      <li className={rowClasses.row} data-news={unread.length > 0 || undefined}>
        <Link to="/threads" className={rowClasses.link}>
          <MessagesSquare size={16} className={rowClasses.sign} aria-hidden />
          <span className={rowClasses.title}>{t('threads.title')}</span>
          {unread.length > 0 && (
            <span className={rowClasses.count}>
              <span aria-hidden>{countText(unread.length)}</span>
              <span className={rowClasses.spoken}>{t('count.threads', { count: unread.length })}</span>
            </span>
          )}
        </Link>
      </li>
    </ul>
  );
}
