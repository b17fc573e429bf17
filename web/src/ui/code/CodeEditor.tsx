import { Input, Skeleton } from '@mantine/core';
import { lazy, Suspense, useId } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './code.module.css';
import type { CodeEditorProps, DiffViewProps } from './types.ts';

const Editor = lazy(() => import('./Editor.tsx'));

/** Lines to pixels: the line height of the editor, and its padding. */
const heightOf = (height: string | number | undefined) =>
  typeof height === 'number' ? `${height * 20 + 10}px` : height;

/** A text field for code, with its label, which loads CodeMirror when it is shown. */
export function CodeEditor({
  label,
  hidesLabel = false,
  description,
  error,
  height,
  ...rest
}: CodeEditorProps) {
  const { t } = useTranslation();
  const hintId = useId();
  const size = heightOf(height);
  return (
    <Input.Wrapper
      className={classes.wrapper}
      label={hidesLabel ? undefined : label}
      labelElement="div"
      description={description}
      error={error}
      data-fills={size === '100%' || undefined}
    >
      <div className={classes.frame} data-error={Boolean(error) || undefined} style={{ height: size }}>
        <Suspense fallback={<Skeleton height={size ?? 90} radius={0} />}>
          <Editor label={label} hintId={hintId} height={size} {...rest} />
        </Suspense>
      </div>
      <span id={hintId} hidden>
        {t('code.leave')}
      </span>
    </Input.Wrapper>
  );
}

const Diff = lazy(() => import('./Diff.tsx'));

/** The difference between two texts: removed lines above the added ones, unchanged stretches folded. */
export function DiffView(properties: DiffViewProps) {
  return (
    <div className={classes.frame}>
      <Suspense fallback={<Skeleton height={200} radius={0} />}>
        <Diff {...properties} />
      </Suspense>
    </div>
  );
}
