import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The server that `npm run dev` puts behind Vite. */
const SERVER = process.env.PARLEY_URL ?? 'http://127.0.0.1:8080';
const DOORS = ['/api', '/trpc', '/ws', '/oauth', '/v1', '/ready', '/version'];

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
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
