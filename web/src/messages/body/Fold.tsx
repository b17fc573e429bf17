import { UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { ChevronRight } from 'lucide-react';
import { type ReactNode, useId } from 'react';
import classes from './body.module.css';

interface Properties {
  /** The line that is always shown. */
  summary: ReactNode;
  children: () => ReactNode;
}

/** A line that folds open. Its content is made when it is opened. */
export function Fold({ summary, children }: Properties) {
  const [isOpen, { toggle }] = useDisclosure(false);
  const id = useId();
  return (
    <div>
      <UnstyledButton className={classes.summary} aria-expanded={isOpen} aria-controls={id} onClick={toggle}>
        <ChevronRight size={14} aria-hidden className={classes.chevron} data-open={isOpen || undefined} />
        {summary}
      </UnstyledButton>
      <div id={id} className={classes.folded} hidden={!isOpen}>
        {isOpen && children()}
      </div>
    </div>
  );
}
