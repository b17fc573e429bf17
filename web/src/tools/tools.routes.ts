import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '../routes/shell.route.ts';

const tools = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tools',
  component: lazyRouteComponent(() => import('./list/ToolsPage.tsx'), 'ToolsPage'),
});

const create = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tools/new',
  component: lazyRouteComponent(() => import('./edit/NewTool.tsx'), 'NewTool'),
});

const importTools = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tools/import',
  component: lazyRouteComponent(() => import('./import/ImportPage.tsx'), 'ImportPage'),
});

const tool = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tools/$toolId',
  validateSearch: ({ tab }: Record<string, unknown>): { tab?: string } =>
    typeof tab === 'string' ? { tab } : {},
  component: lazyRouteComponent(() => import('./ToolPage.tsx'), 'ToolPage'),
});

export const toolRoutes = [tools, create, importTools, tool] as const;
