import type { Outputs } from '@parley/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { useLive, useLiveState } from './live.ts';
import { queryClient, trpc } from './query.ts';

/** A question of a tool that a model called for the person. */
export type ModelQuestion = Outputs['replies']['questions'][number];

const key = trpc.replies.questions.queryKey();
const query = trpc.replies.questions.queryOptions(undefined, { staleTime: Number.POSITIVE_INFINITY });
const none: ModelQuestion[] = [];

/** The questions that wait for the person, the oldest first. */
export function useOpenQuestions(): ModelQuestion[] {
  // First asked when notices arrive, so that none falls between.
  const isLive = useLiveState().state === 'live';
  return useQuery({ ...query, enabled: isLive }).data ?? none;
}

const ask = () => void queryClient.invalidateQueries({ queryKey: key });

/** The question has ended. */
export const dropQuestion = (id: string): void =>
  void queryClient.setQueryData<ModelQuestion[]>(key, (open) => open?.filter((one) => one.id !== id));

/** Keeps the questions right while the page is open. Used once, by the shell. */
export function useQuestionsLive(): void {
  useLive({
    onEvent({ message_id, data }) {
      // A process that was killed tells no end of its questions; the end of its reply comes from another one.
      const isOpen = queryClient
        .getQueryData<ModelQuestion[]>(key)
        ?.some((one) => one.message_id === message_id);
      if (isOpen && data.type.startsWith('message:')) ask();
    },
    onNotice({ data }) {
      if (data.type === 'message:ask' || data.type === 'message:ask:done') ask();
    },
  });
  // Notices are lost with a connection.
  const { state } = useLiveState();
  useEffect(() => {
    if (state === 'live' && queryClient.getQueryData(key)) ask();
  }, [state]);
}

/** The questions that the person has put aside. */
let aside: ReadonlySet<string> = new Set();
const listeners = new Set<() => void>();

function setAside(next: ReadonlySet<string>): void {
  aside = next;
  for (const listener of listeners) listener();
}

export const putAside = (id: string): void => setAside(new Set([...aside, id]));
/** Shows a question again that was put aside. */
export const showQuestion = (id: string): void => setAside(new Set([...aside].filter((one) => one !== id)));

export const useAside = (): ReadonlySet<string> =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => aside,
  );
