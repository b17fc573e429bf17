import { queryOptions } from '@tanstack/react-query';

export type PartState = 'ok' | 'degraded' | 'down';

export interface PartRow {
  name: string;
  state: PartState;
  detail: string;
}

const ASK_MS = 5_000;

/** `GET /ready`, which answers 503 with the same body while a part is down. Asked again as long as the view is shown. */
export const readyQuery = queryOptions({
  queryKey: ['ready'],
  async queryFn({ signal }) {
    const response = await fetch('/ready', { signal });
    const { ready, parts }: { ready: boolean; parts: Record<string, Omit<PartRow, 'name'>> } =
      await response.json();
    return { isReady: ready, parts: Object.entries(parts).map(([name, part]) => ({ name, ...part })) };
  },
  refetchInterval: ASK_MS,
  staleTime: 0,
});
