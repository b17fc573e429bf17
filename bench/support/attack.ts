import type { Parley } from './parley.ts';

/** What the process of an attacker gets. */
export interface AttackTarget {
  /** The address of the server, `http://…`. */
  url: string;
  /** The token of an ordinary user who belongs to the attacker. */
  token: string;
  /** The result of `prepare`. */
  prepared: unknown;
}

/** One way to stop the service for other users. */
export interface Attack {
  /** The name in the table. */
  what: string;
  /** The figures that must hold during the attack; a missing one is reported without a target. */
  targets: {
    /** `/health`, p99 in milliseconds. */
    health?: number;
    /** The calls of another user, p99 in milliseconds. */
    others?: number;
    /** Resident memory of the server at its peak, in MB. */
    memory?: number;
  };
  /** Work before the attack, in the process of the benchmark. The result must be JSON. */
  prepare?(parley: Parley): Promise<unknown>;
  /**
   * Runs the attack in a process of its own until that is ended. Connections that the server closes are
   * opened again.
   *
   * @returns once the attack is running
   */
  attack(target: AttackTarget): Promise<void>;
}
