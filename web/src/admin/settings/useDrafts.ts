import { isParleyError } from '@parley/client';
import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { trpc } from '../../api/query.ts';
import { configQuery } from '../../api/session.ts';
import { isSame, Unparsed } from '../../ui/schema/values.ts';
import { explainQuery, type Setting } from './settings.ts';

interface Draft {
  value: unknown;
  /** The value in force when the change began. */
  base: unknown;
  /** True where the setting returns to its default. */
  isReset: boolean;
}
type ByPath = ReadonlyMap<string, Draft>;

export interface Drafts {
  /** The changed settings by their paths. */
  byPath: ByPath;
  /** The value as the form shows it. */
  valueOf(setting: Setting): unknown;
  change(setting: Setting, value: unknown): void;
  /** Returns a setting to its default. */
  reset(setting: Setting): void;
  undo(path: string): void;
  discard(): void;
  save(): void;
  isSaving: boolean;
  /** True while a value cannot be sent, such as a text that is not JSON. */
  isUnfinished: boolean;
  /** Why nothing was saved; `Conflict` where another administrator changed a setting meanwhile. */
  error: unknown;
  /** What the server says is wrong with a setting. */
  problemOf(path: string): string | undefined;
  /** True where another administrator has set another value since the change began. */
  hasConflict(setting: Setting): boolean;
}

/** Another administrator changed a setting meanwhile. The form shows where, and the next save replaces it. */
export class Conflict extends Error {}

/** The changes of a form of settings. Only what changed is sent. */
export function useDrafts(settings: Setting[]): Drafts {
  const queryClient = useQueryClient();
  const [byPath, setByPath] = useState<ByPath>(new Map());
  const { mutate, error, isPending, reset } = useMutation({
    meta: { showsError: true },
    async mutationFn(drafts: ByPath) {
      await refuseConflicts(queryClient, drafts, settings);
      await send([...drafts].map(([path, { value, isReset }]) => [path, isReset ? null : value]));
    },
    async onSuccess() {
      await invalidate(queryClient);
      setByPath(new Map());
    },
  });
  const set = (path: string, draft?: Draft) =>
    setByPath(
      (before) =>
        new Map([...before].filter(([other]) => other !== path).concat(draft ? [[path, draft]] : [])),
    );
  const draftOf = ({ path, value: inForce }: Setting, value: unknown, isReset: boolean): Draft => ({
    value,
    base: byPath.has(path) ? byPath.get(path)?.base : inForce,
    isReset,
  });
  return {
    byPath,
    error,
    isSaving: isPending,
    isUnfinished: [...byPath.values()].some(({ value }) => value instanceof Unparsed),
    valueOf: ({ path, value }) => (byPath.has(path) ? byPath.get(path)?.value : value),
    change: (setting, value) =>
      set(setting.path, isSame(value, setting.value) ? undefined : draftOf(setting, value, false)),
    reset: (setting) => set(setting.path, draftOf(setting, setting.default, true)),
    undo: (path) => set(path),
    discard() {
      setByPath(new Map());
      reset();
    },
    save: () => mutate(byPath),
    problemOf: (path) => problemIn(error, path),
    hasConflict({ path, value }) {
      const draft = byPath.get(path);
      return draft !== undefined && !isSame(draft.base, value) && !isSame(draft.value, value);
    },
  };
}

/** The last change wins at the server, so the form looks first whether there was one that it has not shown. */
async function refuseConflicts(queryClient: QueryClient, drafts: ByPath, shown: Setting[]): Promise<void> {
  const { settings } = await queryClient.fetchQuery({ ...explainQuery(), staleTime: 0 });
  const isNew = settings.some(({ path, value }) => {
    const draft = drafts.get(path);
    const before = shown.find((setting) => setting.path === path);
    return draft && before && !isSame(before.value, value) && !isSame(draft.value, value);
  });
  if (isNew) throw new Conflict();
}

/** Changes only the named settings; null returns one to its default. */
export async function send(values: [path: string, value: unknown][]): Promise<void> {
  const [[path, value] = []] = values;
  // The flat form is recognised by a dotted name, which this setting does not have.
  if (path === 'webhook_url' && values.length === 1) {
    await api.configParts.setWebhook.mutate({ url: String(value ?? '') });
  } else await api.configs.import.mutate({ config: Object.fromEntries(values) });
}

/** What depends on the configuration is read again. */
export const invalidate = (queryClient: QueryClient): Promise<unknown> =>
  Promise.all([
    queryClient.invalidateQueries(trpc.configs.pathFilter()),
    queryClient.invalidateQueries({ queryKey: configQuery.queryKey }),
    queryClient.invalidateQueries(trpc.providers.pathFilter()),
    queryClient.invalidateQueries(trpc.models.pathFilter()),
  ]);

/** The server may name a member of the value: `usage.limits.0.scope`. */
function problemIn(error: unknown, path: string): string | undefined {
  if (!isParleyError(error)) return undefined;
  const issue = error.issues.find((one) => one.path === path || one.path.startsWith(`${path}.`));
  if (!issue) return undefined;
  const member = issue.path.slice(path.length + 1);
  return member ? `${member}: ${issue.message}` : issue.message;
}
