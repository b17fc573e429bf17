import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The server that `npm run dev` puts behind Vite. */
const SERVER = process.env.PARLEY_URL ?? 'http://127.0.0.1:8080';
const DOORS = ['/api', '/trpc', '/ws', '/oauth', '/v1', '/ready', '/version'];

/** What every view needs, and of Mantine what the frame of the workspace shows. */
const LIBRARIES = [
  'react',
  'react-dom',
  'scheduler',
  'react-i18next',
  'i18next',
  'use-sync-external-store',
  'clsx',
];
const SCOPES = ['@tanstack', '@trpc', '@floating-ui', '@mantine/hooks', '@mantine/core/esm/(?:core|utils)'];
const COMPONENTS = [
  'ActionIcon',
  'Alert',
  'Anchor',
  'Avatar',
  'Badge',
  'Box',
  'Button',
  'CloseButton',
  'Flex',
  'Group',
].concat(
  [
    'Input',
    'InputBase',
    'Loader',
    'Menu',
    'NavLink',
    'Overlay',
    'Paper',
    'Popover',
    'Portal',
    'Stack',
    'Text',
    'Textarea',
  ],
  ['Title', 'Tooltip', 'Transition', 'UnstyledButton', 'VisuallyHidden', 'Collapse'],
);
const BASE = new RegExp(
  `/node_modules/(?:(?:${LIBRARIES.join('|')})|(?:${SCOPES.join('|')})|@mantine/core/esm/components/(?:${COMPONENTS.join('|')}))/`,
);

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  resolve: {
    alias: { '@parley/client': join(import.meta.dirname, '..', 'client', 'src', 'index.ts') },
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
        // Libraries of the first visit in one file: many small ones compress worse and take more requests.
        codeSplitting: { groups: [{ name: 'base', test: BASE }] },
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      DOORS.map((path) => [path, { target: SERVER, ws: path === '/trpc' || path === '/ws' }]),
    ),
  },
});
