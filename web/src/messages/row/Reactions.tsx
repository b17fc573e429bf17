import type { Message } from '@parley/client';
import { useTranslation } from 'react-i18next';
import { usePane } from '../pane.ts';
import { toggleReaction } from './actions.ts';
import classes from './MessageRow.module.css';

const MOST_NAMES = 12;

/** The reactions below a message; each is a switch for the own one. */
export function Reactions({ message }: { message: Message }) {
  const { t } = useTranslation('messages');
  const { me, channel } = usePane();
  return (
    <div className={classes.reactions}>
      {message.reactions.map(({ name, count, users }) => {
        const isOwn = users.some(({ id }) => id === me.id);
        const names = users.slice(0, MOST_NAMES).map((user) => user.name);
        const more = count - names.length;
        const people =
          more > 0 ? t('reactions.more', { names: names.join(', '), count: more }) : names.join(', ');
        return (
          <button
            type="button"
            key={name}
            title={people}
            className={classes.reaction}
            aria-pressed={isOwn}
            aria-label={t('reactions.label', { name, count })}
            disabled={!channel.write_access}
            onClick={() => toggleReaction(message, name, me.id)}
          >
            <span>{name}</span>
            <span>{count}</span>
          </button>
        );
      })}
    </div>
  );
}
