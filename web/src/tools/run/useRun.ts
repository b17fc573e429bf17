import type { Outputs } from '@parley/client';
import { useEffect, useReducer, useRef } from 'react';
import { api } from '../../api/client.ts';

type Item = Outputs['tools']['run']['data'];

export interface Run {
  state: 'idle' | 'running' | 'done' | 'failed' | 'stopped';
  function: string;
  id: string | null;
  events: unknown[];
  /** The questions that wait for an answer, the oldest first. */
  questions: { ask: number; event: unknown }[];
  result: unknown;
  durationMs: number | null;
  error: unknown;
}

type Change =
  | { type: 'begin'; function: string }
  | { type: 'item'; item: Item }
  | { type: 'answered'; ask: number }
  | { type: 'failed'; error: unknown }
  | { type: 'stopped' };

const IDLE: Run = {
  state: 'idle',
  function: '',
  id: null,
  events: [],
  questions: [],
  result: undefined,
  durationMs: null,
  error: null,
};

function changed(run: Run, change: Change): Run {
  switch (change.type) {
    case 'begin':
      return { ...IDLE, state: 'running', function: change.function };
    case 'item':
      return withItem(run, change.item);
    case 'answered':
      return { ...run, questions: run.questions.filter(({ ask }) => ask !== change.ask) };
    case 'failed':
      return { ...run, state: 'failed', questions: [], error: change.error };
    case 'stopped':
      return { ...run, state: 'stopped', questions: [] };
  }
}

function withItem(run: Run, item: Item): Run {
  switch (item.type) {
    case 'started':
      return { ...run, id: item.run_id };
    case 'event':
      return { ...run, events: [...run.events, item.event] };
    case 'ask':
      return { ...run, questions: [...run.questions, { ask: item.ask, event: item.event }] };
    case 'result':
      return { ...run, state: 'done', questions: [], result: item.result, durationMs: item.duration_ms };
  }
}

/** One run at a time of a function of this tool. It ends with the component, since a run ends with its subscription. */
export function useRun(toolId: string) {
  const [run, dispatch] = useReducer(changed, IDLE);
  const subscription = useRef<{ unsubscribe(): void } | null>(null);
  useEffect(() => () => subscription.current?.unsubscribe(), []);
  return {
    run,
    start(name: string, values: Record<string, unknown>) {
      subscription.current?.unsubscribe();
      dispatch({ type: 'begin', function: name });
      subscription.current = api.tools.run.subscribe(
        { id: toolId, function: name, arguments: values },
        {
          onData: ({ data }) => dispatch({ type: 'item', item: data }),
          onError: (error) => dispatch({ type: 'failed', error }),
        },
      );
    },
    stop() {
      subscription.current?.unsubscribe();
      dispatch({ type: 'stopped' });
    },
    async answer(ask: number, answer: unknown) {
      if (run.id === null) return;
      await api.tools.answer.mutate({ run_id: run.id, ask, answer });
      dispatch({ type: 'answered', ask });
    },
    /** The server waits no longer for an answer. */
    drop: (ask: number) => dispatch({ type: 'answered', ask }),
  };
}
