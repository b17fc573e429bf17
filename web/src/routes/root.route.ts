import { createRootRoute, lazyRouteComponent } from '@tanstack/react-router';

const views = () => import('./RootViews.tsx');

export const rootRoute = createRootRoute({
  notFoundComponent: lazyRouteComponent(views, 'NotFound'),
  errorComponent: lazyRouteComponent(views, 'Failed'),
});
