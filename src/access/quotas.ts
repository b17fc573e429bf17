import { LRUCache } from 'lru-cache';
import type { ConfigStore } from '../configs/configs.store.ts';
import { AppError } from '../core/errors.ts';
import { createLimit, type SharedStore } from '../core/limits/limits.ts';
import type { Sql } from '../database/sql.ts';
import type { Bus } from '../events/bus.ts';
import { DEFAULT_LIMITS } from './access.terms.ts';
import { listGroupIds, readStoredBytes } from './quotas.repository.ts';

declare module '../core/scope.ts' {
  interface Parts {
    readonly quotas: Quotas;
  }
}

/** What one person may do; 0 is no limit. */
interface PersonLimits {
  messages_per_minute: number;
  uploads_per_hour: number;
  storage_bytes: number;
}
const NAMES = ['messages_per_minute', 'uploads_per_hour', 'storage_bytes'] as const;

/** The rates and quotas that the configuration sets for people. Where it sets none, nothing is counted. */
export interface Quotas {
  /** Counts a post or an edit of that size. @throws rate_limited, quota_exceeded */
  message(userId: string, bytes: number): Promise<void>;
  /** Counts an upload that begins. @returns how many bytes the person may still store @throws rate_limited */
  upload(userId: string): Promise<number>;
  /** Reserves storage of that size. @throws quota_exceeded */
  store(userId: string, bytes: number): Promise<void>;
}

interface Stored {
  bytes: number;
  /** When it was read. */
  at: number;
  /** How long it is used. */
  goodMs: number;
}

const MAX_PEOPLE = 10_000;
const GROUPS_MS = 10_000;
/** The stored bytes are added up again after this time, but not before `TIMES` times the duration of the last sum. */
const STORED_MS = 10_000;
const TIMES = 100;
/** Before a refusal, a sum older than this is read again: the person may have deleted something. */
const REFUSAL_MS = 1_000;

export function createQuotas(options: {
  sql: Sql;
  bus: Bus;
  configs: Pick<ConfigStore, 'current'>;
  shared: SharedStore;
}): Quotas {
  const { sql, bus, configs, shared } = options;
  const messages = createLimit('messages', { points: 0, seconds: 60 }, shared);
  const uploads = createLimit('uploads', { points: 0, seconds: 3600 }, shared);
  // `max` allocates memory for all entries at once; `maxSize` does not.
  const size = { maxSize: MAX_PEOPLE, sizeCalculation: () => 1 };
  const groups = new LRUCache<string, string[]>({ ...size, ttl: GROUPS_MS });
  const stored = new LRUCache<string, Stored>(size);
  bus.subscribe('groups.changed', ({ userIds }) => {
    if (userIds === null) groups.clear();
    else for (const id of userIds) groups.delete(id);
  });
  bus.onGap(() => groups.clear());

  /** The limits of a person: the most generous one of all that apply. */
  async function limitsOf(userId: string): Promise<PersonLimits> {
    const common = { ...DEFAULT_LIMITS, ...configs.current.limits };
    const byGroup: Record<string, Partial<PersonLimits>> = common.groups;
    if (Object.keys(byGroup).length === 0) return common;
    const ids = groups.get(userId) ?? (await readGroups(userId));
    const given = ids.flatMap((id) => (Object.hasOwn(byGroup, id) ? [byGroup[id]] : []));
    const best = (name: (typeof NAMES)[number]) => {
      const all = [common[name], ...given.flatMap((one) => one?.[name] ?? [])];
      return all.includes(0) ? 0 : Math.max(...all);
    };
    return {
      messages_per_minute: best('messages_per_minute'),
      uploads_per_hour: best('uploads_per_hour'),
      storage_bytes: best('storage_bytes'),
    };
  }

  /** Caches the ids only after a read: a use must not extend the time for which they are cached. */
  async function readGroups(userId: string): Promise<string[]> {
    const ids = await listGroupIds(sql, userId);
    groups.set(userId, ids);
    return ids;
  }

  async function storedBy(userId: string, maxAgeMs = Number.POSITIVE_INFINITY): Promise<Stored> {
    const known = stored.get(userId);
    const began = performance.now();
    if (known && began - known.at < Math.min(known.goodMs, maxAgeMs)) return known;
    const bytes = await readStoredBytes(sql, userId);
    const now = performance.now();
    const fresh = { bytes, at: now, goodMs: Math.max(STORED_MS, TIMES * (now - began)) };
    stored.set(userId, fresh);
    return fresh;
  }

  async function reserve(userId: string, max: number, bytes: number): Promise<void> {
    if (max === 0) return;
    let sum = await storedBy(userId);
    if (sum.bytes + bytes > max) sum = await storedBy(userId, REFUSAL_MS);
    if (sum.bytes + bytes > max) throw quotaExceeded(max, sum.bytes);
    // Later calls see these bytes before the sum is read again.
    sum.bytes += bytes;
  }

  return {
    async message(userId, bytes) {
      const { messages_per_minute: most, storage_bytes } = await limitsOf(userId);
      await messages.take(userId, `You may post or edit ${most} messages in a minute.`, most);
      await reserve(userId, storage_bytes, bytes);
    },
    async upload(userId) {
      const { uploads_per_hour: most, storage_bytes: max } = await limitsOf(userId);
      await uploads.take(userId, `You may upload ${most} files in an hour.`, most);
      if (max === 0) return Number.POSITIVE_INFINITY;
      const { bytes } = await storedBy(userId, REFUSAL_MS);
      if (bytes >= max) throw quotaExceeded(max, bytes);
      return max - bytes;
    },
    async store(userId, bytes) {
      await reserve(userId, (await limitsOf(userId)).storage_bytes, bytes);
    },
  };
}

/** @param used how many bytes are in use */
const quotaExceeded = (max: number, used: number) =>
  new AppError('quota_exceeded', {
    detail: `Your files, messages, tools, models and pictures may take ${max} bytes, of which ${Math.max(0, max - used)} are left. Delete some first.`,
  });
