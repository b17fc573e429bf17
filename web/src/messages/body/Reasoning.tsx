import { Brain } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { Markdown } from '../../ui/markdown/Markdown.tsx';
import classes from './body.module.css';
import { Fold } from './Fold.tsx';

export function Reasoning({ text, isLive }: { text: string; isLive: boolean }) {
  const { t } = useTranslation('replies');
  const summary = (
    <>
      <Brain size={14} aria-hidden />
      <span>{t(isLive ? 'reasons' : 'reasoning')}</span>
    </>
  );
  return (
    <Fold summary={summary}>
      {() => (
        <div className={classes.thoughts}>
          <Markdown text={text} isLive={isLive} />
        </div>
      )}
    </Fold>
  );
}
