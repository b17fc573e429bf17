import { Alert, List, Stack } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { CodeEditor } from '../../ui/code/CodeEditor.tsx';
import { ErrorNote } from '../../ui/ErrorNote.tsx';
import { marksOf } from './marks.ts';
import classes from './SourceLayout.module.css';

interface Properties {
  toolbar: ReactNode;
  /** Notes above the editor. */
  notes?: ReactNode;
  content: string;
  onChange(content: string): void;
  /** The last failure; its line is marked. */
  problem: unknown;
  warnings?: string[] | undefined;
  isReadOnly?: boolean;
  /** Beside the editor; below it on a narrow screen. */
  side: ReactNode;
  /** Above the editor on a narrow screen. */
  isSideFirst?: boolean;
}

const NONE: string[] = [];

/** The editor of a source with its problems, and what belongs to the source beside it. */
export function SourceLayout(properties: Properties) {
  const {
    toolbar,
    notes,
    content,
    onChange,
    problem,
    warnings = NONE,
    isReadOnly = false,
    side,
    isSideFirst = false,
  } = properties;
  const { t } = useTranslation('tools');
  return (
    <div className={classes.layout}>
      <Stack gap="xs" className={classes.main}>
        {toolbar}
        {notes}
        <ErrorNote error={problem} />
        {warnings.length > 0 && (
          <Alert color="yellow" icon={<TriangleAlert size={18} aria-hidden />} title={t('edit.warnings')}>
            <List size="sm">
              {warnings.map((warning) => (
                <List.Item key={warning}>{warning}</List.Item>
              ))}
            </List>
          </Alert>
        )}
        <div className={classes.editor}>
          <CodeEditor
            label={t('edit.source')}
            hidesLabel
            language="python"
            value={content}
            onChange={onChange}
            marks={marksOf(problem, warnings)}
            isReadOnly={isReadOnly}
            height="100%"
          />
        </div>
      </Stack>
      <Stack gap="md" className={classes.side} data-first={isSideFirst || undefined}>
        {side}
      </Stack>
    </div>
  );
}
