import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { idOf, kindOf, type StreamKind, streamOf } from './streams.ts';

/**
 * The streams of some kinds that the caller may read, among the given ones or of all. A kind that the caller may not use, because it is
 * switched off, gives none, and its subscribers wait.
 */
export async function readableStreams(
  scope: Scope,
  kinds: readonly StreamKind[],
  among: readonly string[] | null,
): Promise<Set<string>> {
  const readable = new Set<string>();
  for (const kind of kinds) {
    const ids = among?.filter((stream) => kindOf(stream) === kind.name).map(idOf);
    if (ids?.length === 0) continue;
    try {
      for (const id of await kind.readable(scope, ids ?? null)) readable.add(streamOf(kind.name, id));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
    }
  }
  return readable;
}
