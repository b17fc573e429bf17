import { Square, SquareCheck } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import classes from './Markdown.module.css';

export function TaskMark({ isDone }: { isDone: boolean }) {
  const { t } = useTranslation();
  const Mark = isDone ? SquareCheck : Square;
  return (
    <Mark
      className={classes.mark}
      size={16}
      role="img"
      aria-label={t(isDone ? 'markdown.done' : 'markdown.open')}
    />
  );
}
