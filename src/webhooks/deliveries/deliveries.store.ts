import { v7 as uuidv7 } from 'uuid';
import { seal } from '../../core/secrets/seal.ts';
import { keepSweeping, removeAll } from '../../core/sweep.ts';
import { nowSeconds } from '../../core/time.ts';
import type { Database, Sql } from '../../database/sql.ts';
import { transaction } from '../../database/transaction.ts';
import { enqueueAll, nameWithin } from '../../jobs/enqueue.ts';
import { laneOf, openUrl, sealedForDelivery } from './deliveries.address.ts';
import { deliverJob } from './deliveries.job.ts';
import { insertDeliveries, listJobless, pruneDeliveries } from './deliveries.repository.ts';

const PRUNE_MS = 3_600_000;
const KEPT_SECONDS = 30 * 86_400;
const BATCH = 500;
const NO_ID = '00000000-0000-0000-0000-000000000000';

export interface NewNotice {
  /** The user; null for the installation's own webhook. */
  userId: string | null;
  url: string;
  /** The payload. Absent if it is built from the message at sending time. */
  payload?: Record<string, unknown>;
  channelId?: string;
  messageId?: string;
  /** The subscription, for a browser; `url` is then its push service. */
  pushId?: string;
}

/** Sends notices to webhooks, until each is delivered or given up (`docs/decisions/notifications.md`). */
export interface Deliveries {
  /** Stores notices together with their jobs. Stored notices survive the process. */
  enqueue(notices: NewNotice[]): Promise<void>;
  close(): Promise<void>;
}

interface Due {
  id: string;
  url: string;
  /** Of a browser: few push services serve all browsers, so these do not wait for their server. */
  userId?: string | undefined;
  /** Seconds; at once unless given. */
  dueAt?: number;
}

/** Stores the delivery jobs, in the transaction that makes the deliveries due. */
export const enqueueDeliveries = (tx: Sql, due: Due[]): Promise<void> =>
  enqueueAll(
    tx,
    deliverJob,
    due.map(({ id, url, userId, dueAt }) => ({
      payload: { id },
      id,
      lane: userId ?? laneOf(url),
      runAt: dueAt === undefined ? undefined : new Date(dueAt * 1_000),
    })),
  );

export interface DeliveriesOptions {
  sql: Database;
  secret: string;
  onError: (error: unknown) => void;
}

export function keepDeliveries({ sql, secret, onError }: DeliveriesOptions): Deliveries {
  const prune = (signal: AbortSignal) => {
    const before = nowSeconds() - KEPT_SECONDS;
    return removeAll((most) => pruneDeliveries(sql, before, most), signal);
  };
  const pruning = keepSweeping(PRUNE_MS, prune, onError);
  return {
    async enqueue(notices) {
      const due = new Map<string, Due>();
      const rows = notices.map(({ userId, url, payload = {}, channelId, messageId, pushId }) => {
        const id = uuidv7();
        due.set(id, { id, url, ...(pushId && userId && { userId }) });
        return {
          id,
          user_id: userId,
          channel_id: channelId ?? null,
          message_id: messageId ?? null,
          kind: pushId === undefined ? ('webhook' as const) : ('push' as const),
          push_id: pushId ?? null,
          url: seal(secret, url, sealedForDelivery(id)),
          payload,
        };
      });
      await transaction({ sql }, async (tx) => {
        const ids = await insertDeliveries(tx, rows, nowSeconds());
        await enqueueDeliveries(
          tx,
          ids.flatMap((id) => due.get(id) ?? []),
        );
      });
    },
    close: () => pruning.close(),
  };
}

/**
 * Creates a job for each pending delivery without one, such as deliveries from an older version or a backup.
 */
export const adoptDeliveries = (sql: Database, secret: string): Promise<void> =>
  transaction({ sql }, async (tx) => {
    for (let after = NO_ID; ; ) {
      const jobless = await listJobless(tx, nameWithin(deliverJob, ''), after, BATCH);
      await enqueueDeliveries(
        tx,
        jobless.map(({ id, url, next_attempt_at: dueAt }) => ({ id, url: openUrl(secret, id, url), dueAt })),
      );
      const last = jobless.at(-1);
      if (!last || jobless.length < BATCH) return;
      after = last.id;
    }
  });
