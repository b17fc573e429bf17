import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../app/shell.route.ts';

const tools = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tools',
  component: lazyRouteComponent(() => import('./ToolsPage.tsx'), 'ToolsPage'),
});

export const toolRoutes = [tools] as const;
