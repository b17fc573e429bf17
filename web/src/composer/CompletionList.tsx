import { Text } from '@mantine/core';
import { Boxes, Megaphone } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Person } from '../ui/Person.tsx';
import classes from './CompletionList.module.css';
import type { Completion } from './completion.ts';

interface Properties {
  id: string;
  completions: Completion[];
  /** The index of the one that Enter takes. */
  active: number;
  onPick(completion: Completion): void;
}

export const optionId = (list: string, index: number): string => `${list}-${index}`;

/** The offers above the field. The focus stays in the field. */
export function CompletionList({ id, completions, active, onPick }: Properties) {
  const { t } = useTranslation('composer');
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  return (
    <div ref={list} id={id} role="listbox" aria-label={t('completions')} className={classes.list}>
      {completions.map((completion, index) => (
        <div
          key={completion.key}
          id={optionId(id, index)}
          role="option"
          tabIndex={-1}
          aria-selected={index === active}
          className={classes.option}
          // The field keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onPick(completion)}
          onKeyDown={() => {}}
        >
          <Sign completion={completion} />
          <Text size="sm" truncate>
            {completion.label}
          </Text>
          {completion.detail && (
            <Text size="xs" c="dimmed" truncate className={classes.detail}>
              {completion.detail}
            </Text>
          )}
        </div>
      ))}
    </div>
  );
}

function Sign({ completion: { kind, id, label, text } }: { completion: Completion }) {
  if (kind === 'person') return <Person id={id} name={label} size={22} />;
  return (
    <span className={classes.sign}>
      {kind === 'model' && <Boxes size={16} aria-hidden />}
      {kind === 'all' && <Megaphone size={16} aria-hidden />}
      {kind === 'emoji' && text}
    </span>
  );
}
