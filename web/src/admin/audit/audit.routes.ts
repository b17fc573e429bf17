import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { adminRoute } from '../admin.route.ts';
import { type AuditSearch, searchOf } from './search.ts';

const audit = createRoute({
  getParentRoute: () => adminRoute,
  path: '/audit',
  validateSearch: (search: Record<string, unknown>): AuditSearch => searchOf(search),
  component: lazyRouteComponent(() => import('./AuditPage.tsx'), 'AuditPage'),
});

export const auditRoutes = [audit] as const;
