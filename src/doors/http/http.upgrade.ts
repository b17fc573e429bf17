import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { AppError, type ErrorCode } from '../../core/errors.ts';
import { describeFailure } from '../../core/failure.ts';
import { rawAnswer } from './http.raw.ts';
import { noteArrival, requestIdOf } from './http.response.ts';

export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

const dispatchers = new WeakMap<Server, Map<string, UpgradeHandler>>();

/**
 * Gives upgrades of one path (with or without a trailing slash) to a handler. Every other path is answered with 404
 * and closed, so that no client waits for a door that does not exist.
 *
 * A library that listens for `upgrade` itself (engine.io) registers its path here with a handler that does nothing.
 */
export function onUpgrade(server: Server, path: string, handler: UpgradeHandler): void {
  dispatchUpgrades(server).set(path, handler);
}

/** Starts answering upgrades of a server; the map is the table of its paths. */
export function dispatchUpgrades(server: Server): Map<string, UpgradeHandler> {
  const known = dispatchers.get(server);
  if (known) return known;
  const handlers = new Map<string, UpgradeHandler>();
  dispatchers.set(server, handlers);
  server.on('upgrade', (request, socket, head) => {
    noteArrival(request);
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const handler = handlers.get(path.replace(/\/$/, ''));
    if (handler) return handler(request, socket, head);
    refuseUpgrade(request, socket, 'not_found');
  });
  // Without a listener Node closes the connection of a CONNECT without an answer.
  server.on('connect', (request, socket) => refuseUpgrade(request, socket, 'bad_request'));
  return handlers;
}

/** Answers an upgrade with a failure, and closes. */
export function refuseUpgrade(request: IncomingMessage, socket: Duplex, code: ErrorCode): void {
  const requestId = requestIdOf(request);
  const { status, body } = describeFailure(new AppError(code), requestId);
  // A client that is gone already must not take the process with it.
  socket.on('error', () => socket.destroy());
  socket.end(rawAnswer(status, body, requestId), () => socket.destroy());
}
