import { createRoute, redirect } from '@tanstack/react-router';
import { queryClient } from '../api/query.ts';
import { configQuery, meQuery } from '../api/session.ts';
import { rootRoute } from './root.route.ts';

/**
 * What members see: the navigation and a view beside it; the frame sets the component. People without a session are sent to
 * the sign-in.
 */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  async beforeLoad({ location }) {
    const me = await queryClient.ensureQueryData(meQuery);
    if (!me) {
      const { onboarding } = await queryClient.ensureQueryData(configQuery);
      if (onboarding) throw redirect({ to: '/sign-up' });
      throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { to: location.href } });
    }
    if (me.role === 'pending') throw redirect({ to: '/pending' });
  },
});
