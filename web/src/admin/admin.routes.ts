import { createRoute, redirect } from '@tanstack/react-router';
import { adminRoute } from './admin.route.ts';
import { auditRoutes } from './audit/audit.routes.ts';
import { configurationRoutes } from './configuration/configuration.routes.ts';
import { connectionRoutes } from './connections/connections.routes.ts';
import { groupRoutes } from './groups/groups.routes.ts';
import { lookRoutes } from './look/look.routes.ts';
import { modelSettingRoutes } from './models/models.routes.ts';
import { peopleRoutes } from './people/people.routes.ts';
import { permissionRoutes } from './permissions/permissions.routes.ts';
import { stateRoutes } from './state/state.routes.ts';
import { usageRoutes } from './usage/usage.routes.ts';
import { webhookRoutes } from './webhooks/webhooks.routes.ts';

const index = createRoute({
  getParentRoute: () => adminRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/admin/people', replace: true });
  },
});

export const adminRoutes = [
  adminRoute.addChildren([
    index,
    ...peopleRoutes,
    ...groupRoutes,
    ...permissionRoutes,
    ...configurationRoutes,
    ...connectionRoutes,
    ...modelSettingRoutes,
    ...usageRoutes,
    ...lookRoutes,
    ...auditRoutes,
    ...webhookRoutes,
    ...stateRoutes,
  ]),
] as const;
