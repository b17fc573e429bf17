import { createRouter } from '@tanstack/react-router';
import { accountRoutes } from '../account/account.routes.ts';
import { adminRoutes } from '../admin/admin.routes.ts';
import { channelRoutes } from '../channels/channels.routes.ts';
import { entranceRoutes } from '../entrance/entrance.routes.ts';
import { modelRoutes } from '../models/models.routes.ts';
import { failedView, rootRoute } from '../routes/root.route.ts';
import { shellRoute } from '../routes/shell.route.ts';
import { toolRoutes } from '../tools/tools.routes.ts';
import { Shell } from './Shell.tsx';

// Not lazy, as most visits begin in a channel.
shellRoute.update({ component: Shell });

const routeTree = rootRoute.addChildren([
  ...entranceRoutes,
  shellRoute.addChildren([...channelRoutes, ...toolRoutes, ...modelRoutes, ...adminRoutes, ...accountRoutes]),
]);

export const router = createRouter({
  routeTree,
  defaultErrorComponent: failedView,
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
