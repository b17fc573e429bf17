import { useEffect, useRef, useState } from 'react';
import type { ThemedToken } from 'shiki/core';
import type { ColouredCode } from './highlight.ts';

/** Each portion draws all lines again, so longer code stays plain. */
const MOST_LINES = 2_000;

/** The coloured lines so far: none until the colours of the language are loaded. */
export function useHighlight(lines: readonly string[], language: string): readonly ThemedToken[][] {
  const [tokens, setTokens] = useState<readonly ThemedToken[][]>([]);
  const coloured = useRef<{ language: string; code: ColouredCode } | null>(null);
  useEffect(() => {
    if (language === '' || lines.length > MOST_LINES) return;
    let isCurrent = true;
    const colour = async () => {
      const { ColouredCode, loadLanguage } = await import('./highlight.ts');
      const known = await loadLanguage(language);
      if (known === undefined) return;
      if (coloured.current?.language !== known) {
        coloured.current = { language: known, code: new ColouredCode(known) };
      }
      for (let hasMore = true; hasMore && isCurrent; await pause()) {
        const portion = coloured.current.code.next(lines);
        hasMore = portion.hasMore;
        if (isCurrent) setTokens(portion.tokens);
      }
    };
    // Without colours the code is shown plain.
    void colour().catch(() => {});
    return () => {
      isCurrent = false;
    };
  }, [lines, language]);
  return tokens;
}

const pause = () => new Promise((resolve) => setTimeout(resolve));
