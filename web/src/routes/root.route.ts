import { createRootRoute, lazyRouteComponent } from '@tanstack/react-router';

const views = () => import('./RootViews.tsx');

export const rootRoute = createRootRoute({ notFoundComponent: lazyRouteComponent(views, 'NotFound') });

/** For each route, so that a view that fails leaves the navigation in its place. */
export const failedView = lazyRouteComponent(views, 'Failed');
