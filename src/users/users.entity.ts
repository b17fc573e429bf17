import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** An account. Addresses are stored lower-cased, times as Unix seconds. */
export const User = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: p.uuid().primary(),
    email: p.text().unique(),
    username: p.text().nullable(),
    name: p.text(),
    role: p.text(),
    /** Argon2id; null for accounts that sign in by another method only. */
    password_hash: p.text().nullable().lazy(),
    profile_image_url: p.text(),
    /** Provider data of an account made through OAuth. */
    oauth: p.json<Record<string, unknown> | null>().nullable(),
    /** What the person's clients keep, `ui` above all. */
    settings: p.json<Record<string, unknown>>().defaultRaw(`'{}'`).lazy(),
    /** What the person says of themselves, and how they are just now. */
    bio: p.text().nullable(),
    gender: p.text().nullable(),
    date_of_birth: p.text().nullable(),
    /** An IANA name, as a client of theirs last said. */
    timezone: p.text().nullable(),
    status_emoji: p.text().nullable(),
    status_message: p.text().nullable(),
    /** Unix seconds; null for a status that stays. */
    status_expires_at: p.integer().nullable(),
    /** Anything that clients keep about a person. */
    info: p.json<Record<string, unknown> | null>().nullable().lazy(),
    /** Texts that prompts may name, by their keys. */
    variables: p.json<Record<string, string>>().defaultRaw(`'{}'`).lazy(),
    last_active_at: p.integer(),
    created_at: p.integer(),
    updated_at: p.integer(),
    /** Breaks ties of `created_at`: the order in which accounts were made. */
    ordinal: p.integer().autoincrement().unique(),
  },
  // Mentions find people by either name, in any case.
  indexes: [
    { name: 'users_role', properties: ['role', 'ordinal'] },
    { name: 'users_updated', properties: ['updated_at', 'ordinal'] },
    { name: 'users_last_active', properties: ['last_active_at', 'ordinal'] },
    {
      name: 'users_name_place',
      // With the name itself, without which the planner does not see that the index alone answers for where an account stands.
      expression: 'create index "users_name_place" on "users" (lower("name"), "ordinal") include ("name")',
    },
    {
      name: 'users_username_folded',
      expression:
        'create index "users_username_folded" on "users" (lower("username")) where "username" is not null',
    },
    // Of every message is asked whom it concerns who has a webhook; few have one.
    {
      name: 'users_notified',
      // Not a partial one: only of an indexed expression does the planner learn how few there are.
      expression: `create index "users_notified" on "users" (nullif("settings" #>> '{ui,notifications,webhook_url}', ''))`,
    },
  ],
});

export type UserEntity = InferEntity<typeof User>;
