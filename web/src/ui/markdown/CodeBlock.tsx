import { ActionIcon, CopyButton } from '@mantine/core';
import { Check, Copy } from 'lucide-react';
import { memo, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { ThemedToken } from 'shiki/core';
import classes from './CodeBlock.module.css';
import { useHighlight } from './useHighlight.ts';

interface Properties {
  code: string;
  /** As the author named it; may be empty. */
  language: string;
}

/** Code with its language and a button that copies it. The colours load later and change no sizes. */
export function CodeBlock({ code, language }: Properties) {
  const { t } = useTranslation();
  const lines = useMemo(() => code.replace(/\n$/, '').split('\n'), [code]);
  const tokens = useHighlight(lines, language);
  return (
    <figure className={classes.block} aria-label={language || t('markdown.code')}>
      <figcaption className={classes.head}>
        <span>{language}</span>
        <CopyButton value={code}>
          {({ copied, copy }) => (
            <ActionIcon
              variant="subtle"
              color="gray"
              size="sm"
              onClick={copy}
              aria-label={t(copied ? 'action.copied' : 'markdown.copy')}
            >
              {copied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
            </ActionIcon>
          )}
        </CopyButton>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reached by keyboard */}
      <pre className={classes.code} tabIndex={0}>
        <code>
          {lines.map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity than their place
            <Line key={index} text={line} tokens={tokens[index]} />
          ))}
        </code>
      </pre>
    </figure>
  );
}

const Line = memo(
  function Line({ text, tokens }: { text: string; tokens: ThemedToken[] | undefined }) {
    // Colours of an earlier text do not fit.
    const fits = tokens && tokens.reduce((length, { content }) => length + content.length, 0) === text.length;
    if (!fits) return `${text}\n`;
    return (
      <>
        {tokens.map(({ content, color, offset }) => (
          <span key={offset} style={{ color }}>
            {content}
          </span>
        ))}
        {'\n'}
      </>
    );
  },
  (before, after) => before.text === after.text && before.tokens === after.tokens,
);
