import { AppError } from '../../core/errors.ts';
import type { ClientSocket } from './socketio.server.ts';

/** The sockets of each person in this process: a person may have only so many, since each may leave a little unread. */
export class Seats {
  readonly #most: number;
  readonly #byUser = new Map<string, Set<ClientSocket>>();

  constructor(most: number) {
    this.#most = most;
  }

  /** @throws rate_limited */
  require(userId: string, socket: ClientSocket): void {
    const sockets = this.#byUser.get(userId);
    if (!sockets || sockets.has(socket) || sockets.size < this.#most) return;
    throw new AppError('rate_limited', {
      detail: `This account has ${this.#most} connections, the most that one may have. Close some first.`,
    });
  }

  /** Gives the socket to a person, and takes it from the one that had it. @throws rate_limited */
  take(userId: string, socket: ClientSocket): void {
    this.require(userId, socket);
    this.giveBack(socket);
    this.#byUser.set(userId, (this.#byUser.get(userId) ?? new Set()).add(socket));
  }

  giveBack(socket: ClientSocket): void {
    const { id = '' } = socket.data.client.actor ?? {};
    const sockets = this.#byUser.get(id);
    if (sockets?.delete(socket) && sockets.size === 0) this.#byUser.delete(id);
  }
}
