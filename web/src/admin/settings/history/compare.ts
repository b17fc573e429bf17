import { isSame } from '../../../ui/schema/values.ts';

export interface Difference {
  path: string;
  before?: unknown;
  after?: unknown;
}

type Tree = Record<string, unknown>;
const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The values in which two configurations differ. */
export function differences(before: unknown, after: unknown, path = ''): Difference[] {
  if (isSame(before, after)) return [];
  if (!isTree(before) || !isTree(after)) return [{ path, before, after }];
  const names = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return names.flatMap((name) =>
    differences(before[name], after[name], path === '' ? name : `${path}.${name}`),
  );
}
