import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Logger, pino } from 'pino';
import { createQuotas } from '../../src/access/quotas.ts';
import { createAuthenticator } from '../../src/auth/authenticator.ts';
import { createSigninLimit } from '../../src/auth/limits/limits.ts';
import { openConfigStore } from '../../src/configs/configs.store.ts';
import { watchRoom } from '../../src/core/limits/room.ts';
import type { Parts } from '../../src/core/scope.ts';
import { openOrm } from '../../src/database/orm.ts';
import { openSql } from '../../src/database/sql.ts';
import { createEntrance } from '../../src/doors/http/entrance.ts';
import { mountSocketIo } from '../../src/doors/socketio/socketio.ts';
import { mountTrpcSockets } from '../../src/doors/trpc/trpc.sockets.ts';
import { entities } from '../../src/entities.ts';
import { readEnv } from '../../src/env.ts';
import { type Bus, createLocalBus } from '../../src/events/bus.ts';
import { createHub, type EventHub } from '../../src/events/hub/hub.ts';
import { createPresence } from '../../src/events/presence.ts';
import { streamKinds } from '../../src/nouns.ts';
import { appRouter } from '../../src/router.ts';
import { loadSecret } from '../../src/secret.ts';
import type { TestServer } from '../support/server.ts';

export interface Door {
  url: string;
  parts: Parts;
  hub: EventHub;
  bus: Bus;
  /**
   * Tells the hub that it may have missed notices, so that it reads the database at once instead of every few
   * seconds.
   */
  tellGap(): void;
  /** The number of listeners for notices and events at the moment. */
  listeners(): number;
  close(): Promise<void>;
}

export interface DoorOptions {
  /** No log by default. */
  log?: Logger;
  proofMs?: number;
  maxSockets?: number;
  pings?: { intervalMs: number; timeoutMs: number };
  /** Runs between reading the channels of a user and following them. */
  aroundFollow?: (follow: () => Promise<void>) => Promise<void>;
}

/** Counts listeners; neither the bus nor the hub needs this number. */
function counting<Arguments extends unknown[]>(
  count: { now: number },
  listen: (...args: Arguments) => () => void,
) {
  return (...args: Arguments) => {
    const end = listen(...args);
    count.now += 1;
    let ended = false;
    return () => {
      end();
      if (!ended) count.now -= 1;
      ended = true;
    };
  };
}

/**
 * Starts only the event doors, with the database and the secret of a running server, and exposes their parts.
 */
export async function openDoor(server: TestServer, options: DoorOptions = {}): Promise<Door> {
  const env = readEnv({ DATA_DIR: server.dataDir, DATABASE_URL: server.database.url, PORT: '0' });
  const secret = await loadSecret(env);
  const log = options.log ?? pino({ level: 'silent' });
  const onError = () => {};
  const count = { now: 0 };
  const orm = await openOrm(entities, { url: server.database.url });
  const sql = await openSql(orm);
  const onGaps = new Set<() => void>();
  const local: Bus = {
    ...createLocalBus(onError),
    onGap(handler) {
      onGaps.add(handler);
      return () => onGaps.delete(handler);
    },
  };
  const configs = await openConfigStore(sql, { secret, pins: [], hasEventDoors: true, log });
  const hub: EventHub = createHub({ kinds: streamKinds(sql), bus: local, log });
  const { tokens, authenticate } = createAuthenticator({
    sql,
    bus: local,
    configs,
    secret,
    onSeen: () => {},
  });
  const bus: Bus = {
    ...local,
    subscribe: counting(count, local.subscribe) as Bus['subscribe'],
    onGap: counting(count, local.onGap),
  };
  const attend = hub.attend.bind(hub);
  hub.attend = counting(count, attend);
  const follow = hub.follow.bind(hub);
  const { aroundFollow = (go) => go() } = options;
  hub.follow = (...args) => aroundFollow(() => follow(...args));
  const presence = createPresence(local);
  const signinLimit = createSigninLimit({ shared: null, secret, configs, knowsProxies: false });
  const partsInUse = {
    orm,
    sql,
    bus,
    log,
    secret,
    configs,
    tokens,
    hub,
    presence,
    authenticate,
    signinLimit,
    room: await watchRoom([], 0, log),
    quotas: createQuotas({ sql, bus, configs, shared: null }),
    entrance: createEntrance(env),
  };
  // The other parts, some of which start slowly, are not needed for events.
  const parts = partsInUse satisfies Partial<Parts> as unknown as Parts;

  const http = createServer();
  const socketIo = mountSocketIo({
    server: http,
    parts,
    env,
    ...(options.proofMs && { proofMs: options.proofMs }),
    ...(options.maxSockets && { maxSockets: options.maxSockets }),
    ...(options.pings && { pings: options.pings }),
  });
  const sockets = mountTrpcSockets({ server: http, parts, router: appRouter });
  const atRest = count.now;
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    parts,
    hub,
    bus: local,
    tellGap() {
      for (const handler of onGaps) handler();
    },
    listeners: () => count.now - atRest,
    async close() {
      await socketIo.close();
      await sockets.close();
      http.close();
      http.closeAllConnections();
      presence.close();
      hub.close();
      await orm.close(true);
    },
  };
}
