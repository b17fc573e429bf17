import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { adminRoute } from '../admin.route.ts';

const models = createRoute({
  getParentRoute: () => adminRoute,
  path: '/models',
  component: lazyRouteComponent(() => import('./ModelSettingsPage.tsx'), 'ModelSettingsPage'),
});

export const modelSettingRoutes = [models] as const;
