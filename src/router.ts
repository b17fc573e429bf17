import { router } from './core/trpc/trpc.ts';
import type { Intersection } from './core/types.ts';
import { nouns } from './nouns.ts';

type RoutersOf<N> = N extends { routers: infer R } ? R : never;
type Routers = Intersection<RoutersOf<(typeof nouns)[number]>>;

const routers = Object.assign({}, ...nouns.map((noun) => ('routers' in noun ? noun.routers : {})));

/** Every operation of the service; all doors are made from it. */
export const appRouter = router(routers as { [Name in keyof Routers]: Routers[Name] });

export type AppRouter = typeof appRouter;
