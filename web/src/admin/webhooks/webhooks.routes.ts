import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { adminRoute } from '../admin.route.ts';

const webhooks = createRoute({
  getParentRoute: () => adminRoute,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('./WebhooksPage.tsx'), 'WebhooksPage'),
});

export const webhookRoutes = [webhooks] as const;
