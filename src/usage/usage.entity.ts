import { defineEntity, p } from '@mikro-orm/core';

/** One call of a model: a turn with all its rounds, or embeddings. Rows outlive their account, without its name. */
export const UsageCall = defineEntity({
  name: 'UsageCall',
  tableName: 'usage_call',
  properties: {
    /** Version 7, so ids are in order of time. */
    id: p.uuid().primary(),
    /** Unix seconds. */
    created_at: p.integer().index('usage_call_time'),
    /** The account may be deleted. */
    user_id: p.uuid(),
    /** The id that was asked for. */
    model: p.text(),
    /** The model of the provider that answered. */
    provider_model: p.text(),
    /** Null when no connection answered. */
    connection: p.text().nullable(),
    /** `channel`, `api`, `embedding`. */
    kind: p.text(),
    tokens_in: p.integer(),
    /** Those of `tokens_in` that the provider had cached. */
    tokens_cached: p.integer(),
    tokens_out: p.integer(),
    /** The provider counted no tokens, so they are an estimate. */
    is_estimated: p.boolean(),
    /** Null for a model without a price. */
    cost: p.double().nullable(),
    first_token_ms: p.double().nullable(),
    total_ms: p.double(),
    rounds: p.integer(),
    /** `ok`, `cancelled`, or the code of the error. */
    outcome: p.text(),
  },
  indexes: [{ name: 'usage_call_user', properties: ['user_id', 'created_at'] }],
});

/** What was used of a limit in one window, reservations included. */
export const UsageCounter = defineEntity({
  name: 'UsageCounter',
  tableName: 'usage_counter',
  properties: {
    key: p.text().primary(),
    /** Unix seconds, as below. */
    starts_at: p.integer().primary(),
    ends_at: p.integer(),
    requests: p.bigint('number'),
    tokens: p.bigint('number'),
    cost: p.double(),
  },
});

/** What a running call has reserved of a counter. Its process renews it; after a crash it expires and is given back. */
export const UsageHold = defineEntity({
  name: 'UsageHold',
  tableName: 'usage_hold',
  properties: {
    call_id: p.uuid().primary(),
    key: p.text().primary(),
    starts_at: p.integer().primary(),
    requests: p.bigint('number'),
    tokens: p.bigint('number'),
    cost: p.double(),
    /** Unix seconds. */
    expires_at: p.integer().index('usage_hold_expiry'),
  },
});
