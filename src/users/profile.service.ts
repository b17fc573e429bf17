import { isStatusEnabled } from '../configs/configs.kept.ts';
import { AppError, invalid } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import { LIMITS } from '../core/wire.ts';
import { getDetail } from './people.service.ts';
import { CHANGE, MERGE, type Notes, READ } from './profile.repository.ts';
import { reservePicture, storedImage } from './users.picture.ts';
import type { UserDetail } from './users.schema.ts';

/** Null empties a member; an absent member keeps its value. */
async function change(scope: Scope, changes: object): Promise<UserDetail> {
  await scope.sql.rows(CHANGE, {
    userId: scope.actor.id,
    changes: JSON.stringify(changes),
    at: nowSeconds(),
  });
  return getDetail(scope, scope.actor.id);
}

export interface Profile {
  name: string;
  profile_image_url: string;
  bio?: string | null | undefined;
  gender?: string | null | undefined;
  /** An ISO date. */
  date_of_birth?: string | null | undefined;
}

/** Changes the caller's public profile. @throws quota_exceeded for the picture */
export async function updateProfile(scope: Scope, profile: Profile): Promise<UserDetail> {
  const { id } = scope.actor;
  await reservePicture(scope, id, profile.profile_image_url);
  const changed = await change(scope, {
    ...profile,
    profile_image_url: storedImage(id, profile.profile_image_url),
  });
  scope.bus.publish('auth.changed', { userId: id });
  return changed;
}

export interface Status {
  status_emoji?: string | null | undefined;
  status_message?: string | null | undefined;
  /** Unix seconds. */
  status_expires_at?: number | null | undefined;
}

/** @throws forbidden if `users.enable_status` is off */
function requireStatus({ configs }: Scope): void {
  if (!isStatusEnabled(configs.current)) {
    throw new AppError('forbidden', { detail: 'The status of people is switched off.' });
  }
}

/** The caller's account, with its status. @throws forbidden if the status is switched off */
export function getStatus(scope: Scope): Promise<UserDetail> {
  requireStatus(scope);
  return getDetail(scope, scope.actor.id);
}

/** @throws forbidden if the status is switched off */
export async function updateStatus(scope: Scope, status: Status): Promise<UserDetail> {
  requireStatus(scope);
  const changed = await change(scope, status);
  scope.bus.publish('users.profile', { userId: scope.actor.id });
  return changed;
}

/** Stores the caller's time zone; `timezone` is an IANA name. */
export async function updateTimezone(scope: Scope, timezone: string): Promise<{ status: true }> {
  await change(scope, { timezone });
  return { status: true };
}

export async function getNotes({ sql, actor }: Scope): Promise<Notes> {
  const [row] = await sql.rows(READ, { userId: actor.id });
  return row?.info ?? null;
}

/**
 * Concurrent updates queue on the row; the second merges into the result of the first. @throws validation if
 * the result is too large
 */
export async function updateNotes({ sql, actor }: Scope, changes: Record<string, unknown>): Promise<Notes> {
  const [row] = await sql.rows(MERGE, {
    userId: actor.id,
    changes: JSON.stringify(changes),
    maxBytes: LIMITS.freeFormBytes,
  });
  if (row) return row.info;
  const message = `must be at most ${LIMITS.freeFormBytes} bytes as JSON, together with what is there`;
  throw invalid('info', message);
}
