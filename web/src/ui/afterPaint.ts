import { type ComponentType, type LazyExoticComponent, lazy } from 'react';

/** Code that waits is loaded after this time even if the view never says that it is shown. */
const MOST_MS = 3000;

const shown = Promise.withResolvers<void>();
setTimeout(shown.resolve, MOST_MS);

/** Called by each view when people can use it. */
export const noteShown = (): void => shown.resolve();

const idle = () =>
  new Promise<void>((resolve) => {
    // Safari has no `requestIdleCallback`.
    if ('requestIdleCallback' in window) requestIdleCallback(() => resolve(), { timeout: MOST_MS });
    else setTimeout(resolve, 200);
  });

/**
 * A component that a person can do without for a moment. Its code is loaded when the first view is shown and the browser has nothing
 * else to do, so that the view is there earlier. Show it in `Suspense` with a fallback of the same size.
 */
export const lazyAfterPaint = <Properties>(
  load: () => Promise<{ default: ComponentType<Properties> }>,
): LazyExoticComponent<ComponentType<Properties>> => lazy(() => shown.promise.then(idle).then(load));
