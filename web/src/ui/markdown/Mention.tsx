import { useMe } from '../../api/session.ts';
import classes from './Markdown.module.css';

interface Properties {
  label: string;
  /** `U` a person, `M` a model, `C` a channel, `everyone` for `@here` and `@channel`. */
  kind: string;
  id: string;
}

export function Mention({ label, kind, id }: Properties) {
  const me = useMe();
  const isOwn = kind === 'everyone' || (kind === 'U' && id.toLowerCase() === me.id);
  return (
    <span className={classes.mention} data-own={isOwn || undefined}>
      {label}
    </span>
  );
}
