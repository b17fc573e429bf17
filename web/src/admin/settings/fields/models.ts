import { useQuery } from '@tanstack/react-query';
import { trpc } from '../../../api/query.ts';

/** All models that administrators see, and those that a setting names although they are gone, as choices. */
export function useModelChoices(named: string[]): { value: string; label: string }[] {
  const { data } = useQuery(trpc.models.list.queryOptions({}));
  const models = data?.data ?? [];
  const known = new Set(models.map(({ id }) => id));
  return [
    ...models.map(({ id, name }) => ({ value: id, label: name })),
    ...named.filter((id) => !known.has(id)).map((id) => ({ value: id, label: id })),
  ];
}
