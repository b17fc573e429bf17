import { isParleyError } from '@parley/client';
import type { Mark } from '../../ui/code/types.ts';

/** The last line that a sentence of the server names: a traceback goes from the outside to the cause. */
function lineIn(sentence: string): number | null {
  const last = [...sentence.matchAll(/\bin line (\d+)/g)].at(-1)?.[1];
  return last === undefined ? null : Number(last);
}

/** Where the source has the problems that the server found. */
export function marksOf(problem: unknown, warnings: readonly string[] = []): Mark[] {
  const marks: Mark[] = warnings.flatMap((message) => {
    const line = lineIn(message);
    return line === null ? [] : [{ line, message, severity: 'warning' as const }];
  });
  if (!isParleyError(problem) || problem.status !== 400) return marks;
  const line = lineIn(problem.detail);
  return line === null ? marks : [{ line, message: problem.detail }, ...marks];
}
