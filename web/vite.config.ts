import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** The server that `npm run dev` puts behind Vite. */
const SERVER = process.env.PARLEY_URL ?? 'http://127.0.0.1:8080';
const DOORS = ['/api', '/trpc', '/ws', '/oauth', '/v1', '/ready', '/version'];

/** The browser asks for the font of the first text with the scripts, so that it is there when they show the text. */
const preloadFont: Plugin = {
  name: 'preload-font',
  transformIndexHtml: {
    order: 'post',
    handler: (_html, { bundle = {} }) =>
      Object.keys(bundle)
        .filter((file) => /inter-latin-wght-normal.*\.woff2$/.test(file))
        .map((file) => ({
          tag: 'link',
          attrs: { rel: 'preload', href: `/${file}`, as: 'font', type: 'font/woff2', crossorigin: true },
          injectTo: 'head' as const,
        })),
  },
};

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), preloadFont],
  resolve: {
    alias: {
      '@parley/client': join(import.meta.dirname, '..', 'client', 'src', 'index.ts'),
      entities: join(import.meta.dirname, 'src', 'ui', 'markdown', 'entities.ts'),
    },
    // The client and the page share one tRPC, and all libraries one React.
    dedupe: ['react', 'react-dom', '@trpc/client', '@trpc/server'],
  },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    // The policy of the page allows no `data:` fonts or scripts.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      output: {
        // All of the first visit in one file: many small ones compress worse and are found one after the other.
        codeSplitting: { groups: [{ name: 'first', tags: ['$initial'] }] },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      DOORS.map((path) => [path, { target: SERVER, ws: path === '/trpc' || path === '/ws' }]),
    ),
  },
});
