import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../app/shell.route.ts';

const models = createRoute({
  getParentRoute: () => shellRoute,
  path: '/models',
  component: lazyRouteComponent(() => import('./ModelsPage.tsx'), 'ModelsPage'),
});

export const modelRoutes = [models] as const;
