import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** An account. Addresses are stored in lower case, times as Unix seconds. */
export const User = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: p.uuid().primary(),
    email: p.text().unique(),
    username: p.text().nullable(),
    name: p.text(),
    role: p.text(),
    /** Argon2id; null for accounts that sign in only by another method. */
    password_hash: p.text().nullable().lazy(),
    profile_image_url: p.text(),
    /** Provider data of an account created through OAuth. */
    oauth: p.json<Record<string, unknown> | null>().nullable(),
    /** Settings of the user's clients, mostly under `ui`. */
    settings: p.json<Record<string, unknown>>().defaultRaw(`'{}'`).lazy(),
    /** The person's profile and current status. */
    bio: p.text().nullable(),
    gender: p.text().nullable(),
    date_of_birth: p.text().nullable(),
    /** An IANA name, as last reported by a client. */
    timezone: p.text().nullable(),
    status_emoji: p.text().nullable(),
    status_message: p.text().nullable(),
    /** Unix seconds; null for a status that does not expire. */
    status_expires_at: p.integer().nullable(),
    /** Any data that clients store about a person. */
    info: p.json<Record<string, unknown> | null>().nullable().lazy(),
    /** Texts that prompts may reference, by key. */
    variables: p.json<Record<string, string>>().defaultRaw(`'{}'`).lazy(),
    last_active_at: p.integer(),
    created_at: p.integer(),
    updated_at: p.integer(),
    /** Breaks ties of `created_at`: the order in which accounts were created. */
    ordinal: p.integer().autoincrement().unique(),
  },
  // Mentions find people by either name, in any case.
  indexes: [
    { name: 'users_role', properties: ['role', 'ordinal'] },
    { name: 'users_updated', properties: ['updated_at', 'ordinal'] },
    { name: 'users_last_active', properties: ['last_active_at', 'ordinal'] },
    {
      name: 'users_name_place',
      // Includes the name: without it the planner does not use an index-only scan to find an account's
      // position.
      expression: 'create index "users_name_place" on "users" (lower("name"), "ordinal") include ("name")',
    },
    {
      name: 'users_username_folded',
      expression:
        'create index "users_username_folded" on "users" (lower("username")) where "username" is not null',
    },
    // Looked up for each message; few users have a webhook.
    {
      name: 'users_notified',
      // Not a partial index: the planner collects statistics only for an indexed expression, and so learns
      // how few rows match.
      expression: `create index "users_notified" on "users" (nullif("settings" #>> '{ui,notifications,webhook_url}', ''))`,
    },
  ],
});

export type UserEntity = InferEntity<typeof User>;
