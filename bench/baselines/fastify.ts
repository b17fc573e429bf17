import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import { childOptions, ready } from '../support/childSide.ts';

/** Bare Fastify with one route, which answers the same object as the compared operation. */
const { body } = childOptions<{ body: unknown }>();
const app = fastify();
app.get('/', async () => body);
await app.listen({ host: '127.0.0.1', port: 0 });
ready(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`);
