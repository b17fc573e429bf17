import { MAX_FRAMES_BYTES } from './limits.ts';

/** The memory that all long frames share. A frame holds its part from its first byte until it is read. */
export interface FrameRoom {
  /** Returns false when the room for so many bytes is not free. */
  take(bytes: number): boolean;
  /** Calls `retry` when room may be free again. The returned function cancels that. */
  wait(retry: () => void): () => void;
  give(bytes: number): void;
}

export function openFrameRoom(limit = MAX_FRAMES_BYTES): FrameRoom {
  let taken = 0;
  const waiting = new Set<() => void>();
  return {
    take(bytes) {
      if (taken + bytes > limit) return false;
      taken += bytes;
      return true;
    },
    wait(retry) {
      waiting.add(retry);
      return () => waiting.delete(retry);
    },
    give(bytes) {
      taken -= bytes;
      const retries = [...waiting];
      waiting.clear();
      for (const retry of retries) retry();
    },
  };
}
