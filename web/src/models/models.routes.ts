import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../routes/shell.route.ts';

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const models = createRoute({
  getParentRoute: () => shellRoute,
  path: '/models',
  component: lazyRouteComponent(() => import('./list/ModelsPage.tsx'), 'ModelsPage'),
});

/** `base`: the model below the new one; `id`: the model of a provider that gets a record. */
const create = createRoute({
  getParentRoute: () => shellRoute,
  path: '/models/new',
  validateSearch: (search: Record<string, unknown>): { base?: string; id?: string } => ({
    ...(text(search.base) && { base: text(search.base) }),
    ...(text(search.id) && { id: text(search.id) }),
  }),
  component: lazyRouteComponent(() => import('./edit/NewModel.tsx'), 'NewModel'),
});

const importModels = createRoute({
  getParentRoute: () => shellRoute,
  path: '/models/import',
  component: lazyRouteComponent(() => import('./import/ImportPage.tsx'), 'ImportPage'),
});

const model = createRoute({
  getParentRoute: () => shellRoute,
  path: '/models/$modelId',
  validateSearch: ({ tab }: Record<string, unknown>): { tab?: string } =>
    typeof tab === 'string' ? { tab } : {},
  component: lazyRouteComponent(() => import('./edit/ModelPage.tsx'), 'ModelPage'),
});

export const modelRoutes = [models, create, importModels, model] as const;
