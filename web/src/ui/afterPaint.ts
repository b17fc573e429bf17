import { type ComponentType, type LazyExoticComponent, lazy } from 'react';

const MOST_MS = 2000;

const idle = () =>
  new Promise<void>((resolve) => {
    // Safari has no `requestIdleCallback`.
    if ('requestIdleCallback' in window) requestIdleCallback(() => resolve(), { timeout: MOST_MS });
    else setTimeout(resolve, 200);
  });

/**
 * A component that a person can do without for a moment. Its code is loaded when the browser has nothing else to do, so that the first
 * view is there earlier. Show it in `Suspense` with a fallback of the same size.
 */
export const lazyAfterPaint = <Properties>(
  load: () => Promise<{ default: ComponentType<Properties> }>,
): LazyExoticComponent<ComponentType<Properties>> => lazy(() => idle().then(load));
