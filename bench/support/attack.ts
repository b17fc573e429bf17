import type { Parley } from './parley.ts';

/** What the process of an attacker knows. */
export interface AttackTarget {
  /** Of the server, `http://…`. */
  url: string;
  /** Of a plain user of the attacker's own. */
  token: string;
  /** What `prepare` answered. */
  prepared: unknown;
}

/** One way to stop the service for others. */
export interface Attack {
  /** For the table. */
  what: string;
  /** The figures that must hold meanwhile; what is absent is reported without a target. */
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
   * The attack itself, in a process of its own, until that is ended. Connections that the server closes are made again.
   *
   * @returns once the attack is under way
   */
  attack(target: AttackTarget): Promise<void>;
}
