import { decodePicture, type Picture } from '../core/pictures.ts';
import type { Scope } from '../core/scope.ts';
import { readPicture } from './models.repository.ts';
import { isPathOf } from './models.schema.ts';

/** The picture of a record after a change. @param sent as `modelPicture` accepts it; undefined and the own path keep the stored one */
export function pictureAfter(stored: string | null, sent: string | null | undefined): string | null {
  if (sent?.startsWith('data:')) return sent;
  return sent === undefined || (sent !== null && isPathOf(sent)) ? stored : null;
}

/** The picture of a model; null without one, and when the caller may not read the model. */
export async function modelPicture({ sql, actor }: Scope, id: string): Promise<Picture | null> {
  const stored = await readPicture(sql, actor, id);
  return stored === null ? null : decodePicture(stored);
}
