import { setTimeout as sleep } from 'node:timers/promises';
import { Counter } from 'prom-client';
import { v7 as uuidv7 } from 'uuid';
import type { ConfigStore } from '../configs/configs.store.ts';
import { AppError } from '../core/errors.ts';
import { seal, unseal } from '../core/seal.ts';
import { nowSeconds } from '../core/time.ts';
import type { Sql } from '../database/sql.ts';
import type { Egress } from '../egress/egress.ts';
import { payloadFor } from './deliveries.payload.ts';
import {
  claimDeliveries,
  type DueDelivery,
  deferDeliveries,
  insertDeliveries,
  pruneDeliveries,
  settleDelivery,
} from './deliveries.repository.ts';
import { type AttemptResult, afterAttempt, giveUp } from './deliveries.retries.ts';

/** How long a claimed delivery is left to its process; more than an attempt can take. */
const LEASE_SECONDS = 60;
const ATTEMPT_MS = 10_000;
/** How often is looked for what is due; this process's own new ones are sent at once. */
const POLL_MS = 2_000;
const PRUNE_MS = 3_600_000;
const KEPT_SECONDS = 30 * 86_400;
/** How many are sent at once, and how many of them to one server. */
const RUNNING = 16;
const RUNNING_PER_HOST = 4;
const CLAIMED = 64;
/** How many wait here for a place at one server, and how long; with an attempt it must stay within the lease. */
const WAITING_PER_HOST = 64;
const WAITING_SECONDS = 20;
/** For how long those are given back that found no place, seconds; spread, so that they do not come back together. */
const BUSY = { least: 5, spread: 10 };
const AT_ONCE = { least: 0, spread: 0 };
/** How long a stopping server lets attempts finish. */
const CLOSE_GRACE_MS = 3_000;
/** Nothing of an answer matters but its status. */
const ANSWER_BYTES = 16_384;

const attempts = new Counter({
  name: 'parley_notification_attempts_total',
  help: 'Attempts to deliver a notification: delivered, failed for good, or to be tried again',
  labelNames: ['outcome'],
});

export interface NewNotice {
  /** Whose it is; null for the installation's own. */
  userId: string | null;
  url: string;
  /** What is sent; made of the message when there is one, as that is at the time. */
  payload?: Record<string, unknown>;
  channelId?: string;
  messageId?: string;
}

/** Sends notices to webhooks in the background, until each is delivered or given up (`docs/decisions/notifications.md`). */
export interface Deliveries {
  /** Stores notices, and sends them soon. What is stored is not lost with the process. */
  enqueue(notices: NewNotice[]): Promise<void>;
  /** Looks for what is due now. */
  wake(): void;
  /** What this process does now, and what it has taken besides. */
  load(): { sending: number; waiting: number };
  close(): Promise<void>;
}

/** A claimed delivery, with its address opened. */
interface Claimed {
  delivery: DueDelivery;
  url: string;
  host: string;
  /** Seconds. */
  claimedAt: number;
}

export interface DeliveriesOptions {
  sql: Sql;
  egress: Egress;
  configs: ConfigStore;
  secret: string;
  onError: (error: unknown) => void;
}

export const sealedForDelivery = (id: string) =>
  ({ purpose: 'delivery-url', place: `delivery:${id}` }) as const;

/** The server that a delivery goes to; the rest of the address stays secret. */
export function maskUrl(secret: string, id: string, sealed: string): string {
  const url = URL.parse(openUrl(secret, id, sealed));
  return url ? `${url.origin}/…` : '…';
}

function openUrl(secret: string, id: string, sealed: string): string {
  try {
    return unseal(secret, sealed, sealedForDelivery(id));
  } catch {
    // Sealed with a secret that the server no longer has.
    return '';
  }
}

export function startDeliveries({ sql, egress, configs, secret, onError }: DeliveriesOptions): Deliveries {
  const running = new Set<Promise<void>>();
  const perHost = new Map<string, number>();
  const waiting = new Map<string, Claimed[]>();
  const ending = new AbortController();
  let pumping: Promise<void> | undefined;
  let again = false;
  let isClosing = false;

  const hasWork = () => again && !isClosing && running.size < RUNNING;

  /** Asks for what is due until there is no more of it or no more room. One asks at a time. */
  function pump(): void {
    again = true;
    pumping ??= (async () => {
      while (hasWork()) {
        again = false;
        await expire();
        await takeSome();
      }
    })()
      .catch(onError)
      .finally(() => {
        pumping = undefined;
        // Somebody may have asked when the loop had just ended.
        if (hasWork()) pump();
      });
  }

  async function takeSome(): Promise<void> {
    const now = nowSeconds();
    const due = await claimDeliveries(sql, now, now + LEASE_SECONDS, CLAIMED);
    const busy: Claimed[] = [];
    for (const delivery of due) {
      const url = openUrl(secret, delivery.id, delivery.url);
      const host = URL.parse(url)?.host ?? '';
      const queue = waiting.get(host) ?? [];
      waiting.set(host, queue);
      (queue.length < WAITING_PER_HOST ? queue : busy).push({ delivery, url, host, claimedAt: now });
    }
    startWaiting();
    await giveBack(busy);
    if (due.length === CLAIMED) again = true;
  }

  /** Starts as many as there is room for, the oldest of each server first. */
  function startWaiting(): void {
    if (isClosing) return;
    for (const [host, queue] of waiting) {
      const hasRoom = () => running.size < RUNNING && (perHost.get(host) ?? 0) < RUNNING_PER_HOST;
      for (let [next] = queue; next && !isOverdue(next) && hasRoom(); [next] = queue) {
        queue.shift();
        start(next);
      }
      if (queue.length === 0) waiting.delete(host);
    }
  }

  const isOverdue = ({ claimedAt }: Claimed) => claimedAt <= nowSeconds() - WAITING_SECONDS;

  /** Gives back who has waited too long, before their claim runs out. */
  async function expire(): Promise<void> {
    const expired: Claimed[] = [];
    for (const [host, queue] of waiting) {
      expired.push(...queue.filter(isOverdue));
      waiting.set(
        host,
        queue.filter((claimed) => !isOverdue(claimed)),
      );
    }
    await giveBack(expired);
  }

  async function giveBack(claimed: Claimed[], { least, spread } = BUSY): Promise<void> {
    if (claimed.length === 0) return;
    const until = () => nowSeconds() + least + Math.floor(Math.random() * spread);
    await deferDeliveries(
      sql,
      claimed.map(({ delivery: { id, attempts } }) => ({ id, attempts, until: until() })),
    );
  }

  function start(claimed: Claimed): void {
    const { host } = claimed;
    perHost.set(host, (perHost.get(host) ?? 0) + 1);
    const attempt = send(claimed)
      .catch(onError)
      .finally(() => {
        running.delete(attempt);
        const left = (perHost.get(host) ?? 1) - 1;
        if (left > 0) perHost.set(host, left);
        else perHost.delete(host);
        startWaiting();
        pump();
      });
    running.add(attempt);
  }

  async function send(claimed: Claimed): Promise<void> {
    const { delivery, url } = claimed;
    const result = await attempt(delivery, url);
    const now = nowSeconds();
    // A stopping server gives back what it could not finish; the next one begins with it.
    if (result === 'interrupted') return giveBack([claimed], AT_ONCE);
    const outcome = afterAttempt(result, delivery.attempts, now);
    attempts.inc({ outcome: outcome.status === 'pending' ? 'retried' : outcome.status });
    await settleDelivery(sql, delivery, outcome, now);
  }

  async function attempt(delivery: DueDelivery, address: string): Promise<AttemptResult | 'interrupted'> {
    const { user_id, message_id, message, payload } = delivery;
    if (user_id !== null && !configs.current.ui.enable_user_webhooks) {
      return giveUp('Notifications to webhooks are switched off.');
    }
    if (message_id !== null && !message) {
      return giveUp('The message was deleted, or may not be read any more.');
    }
    try {
      const url = egress.check(address);
      const body = JSON.stringify(message ? payloadFor(url, message, configs.current.webui.url) : payload);
      const { status, headers } = await egress.fetch(address, {
        method: 'POST',
        // The id lets a target know one again that it got before its answer was lost.
        headers: { 'content-type': 'application/json', 'x-parley-delivery': delivery.id },
        body,
        maxBytes: ANSWER_BYTES,
        excess: 'cut',
        timeoutMs: ATTEMPT_MS,
        maxRedirects: 0,
        signal: ending.signal,
      });
      return { status, retryAfter: headers.get('retry-after') };
    } catch (error) {
      if (ending.signal.aborted) return 'interrupted';
      if (!(error instanceof AppError)) throw error;
      return error.code === 'address_refused' ? giveUp(error.message) : { error: error.message };
    }
  }

  const poll = setInterval(pump, POLL_MS).unref();
  const prune = setInterval(
    () => void pruneDeliveries(sql, nowSeconds() - KEPT_SECONDS).catch(onError),
    PRUNE_MS,
  ).unref();
  pump();

  return {
    wake: pump,
    load: () => ({
      sending: running.size,
      waiting: [...waiting.values()].reduce((sum, queue) => sum + queue.length, 0),
    }),
    async enqueue(notices) {
      const rows = notices.map(({ userId, url, payload = {}, channelId = null, messageId = null }) => {
        const id = uuidv7();
        const sealed = seal(secret, url, sealedForDelivery(id));
        return { id, user_id: userId, channel_id: channelId, message_id: messageId, url: sealed, payload };
      });
      await insertDeliveries(sql, rows, nowSeconds());
      pump();
    },
    async close() {
      clearInterval(poll);
      clearInterval(prune);
      isClosing = true;
      await pumping;
      await giveBack([...waiting.values()].flat(), AT_ONCE).catch(onError);
      const grace = new AbortController();
      const stop = sleep(CLOSE_GRACE_MS, undefined, { signal: grace.signal }).catch(() => {});
      await Promise.race([Promise.all(running), stop]);
      grace.abort();
      ending.abort();
      await Promise.all(running);
    },
  };
}
