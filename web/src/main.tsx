import '@mantine/core/styles.css';
import './frame/global.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/query.ts';
import { configQuery, meQuery } from './api/session.ts';
import { chooseLanguage, startLanguages } from './base/languages.ts';
import { Look } from './frame/Look.tsx';
import { router } from './frame/router.ts';

// A new version of the page replaced the files of this one.
window.addEventListener('vite:preloadError', () => window.location.reload());

/** A view that loads longer shows its frame first. */
const PATIENCE_MS = 500;

async function start(): Promise<void> {
  // The first view needs all three, so they load side by side. Without an answer the page shows its error view.
  const me = queryClient.prefetchQuery(meQuery);
  const view = Promise.race([router.load(), new Promise((done) => setTimeout(done, PATIENCE_MS))]);
  const config = await queryClient.fetchQuery(configQuery).catch(() => null);
  await Promise.all([me, view, startLanguages(chooseLanguage(config?.default_locale ?? 'en'))]);
  const root = document.getElementById('root');
  if (!root) throw new Error('index.html has no element for the page.');
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <Look>
          <RouterProvider router={router} />
        </Look>
      </QueryClientProvider>
    </StrictMode>,
  );
}

// Not at the top level: other files of the page import this one, and would wait for it.
void start();
