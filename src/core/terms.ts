import type { z } from 'zod';

/**
 * Which program acts on a setting: this server; its clients, which get it from `GET /config`; or none here: it is only kept
 * for other components that share the configuration.
 */
type UsedBy = 'server' | 'clients' | 'nobody';

export interface Setting {
  used_by: UsedBy;
  /** One sentence without its full stop. */
  meaning: string;
}

/** The words for settings that the server acts on. */
export const server = (meaning: string): Setting => ({ used_by: 'server', meaning });
/** The words for settings that clients act on. */
export const clients = (meaning: string): Setting => ({ used_by: 'clients', meaning });
/** The words for settings that are only kept. */
export const kept = (meaning: string): Setting => ({ used_by: 'nobody', meaning });

/** One section of the configuration. */
export interface Section {
  /** Optional where the service reference does not have the section: an export of another system has none. */
  schema: z.ZodType;
  /** The values of a new installation. */
  defaults: unknown;
  /** By their dotted paths in the section; `''` is the section itself, where it is a single value. */
  settings: Readonly<Record<string, Setting>>;
}

/**
 * What a noun adds to the words of the API. `src/terms.ts` lists these declarations; schemas are made from them when the program
 * loads, so a file of terms imports nothing but `core`.
 */
export interface Terms {
  /** By their names in the configuration. */
  sections?: Readonly<Record<string, Section>>;
  /** The permissions that its operations ask for, with their defaults for all accounts. */
  permissions?: Readonly<Record<string, Readonly<Record<string, boolean>>>>;
  /** The type of its things, where rights can be granted to them. The noun declares the rules as `grantable`. */
  grantable?: string;
}

export const defineTerms = <const T extends Terms>(terms: T): T => terms;
