import { Migration } from '@mikro-orm/migrations';

/** Calls of models, and what is used of limits. */
export class Migration20261123011305_usage extends Migration {
  override name = 'Migration20261123011305_usage';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "usage_call" ("id" uuid not null, "created_at" int not null, "user_id" uuid not null, "model" text not null, "provider_model" text not null, "connection" text null, "kind" text not null, "tokens_in" int not null, "tokens_cached" int not null, "tokens_out" int not null, "is_estimated" boolean not null, "cost" double precision null, "first_token_ms" double precision null, "total_ms" double precision not null, "rounds" int not null, "outcome" text not null, primary key ("id"));`,
    );
    this.addSql(`create index "usage_call_time" on "usage_call" ("created_at");`);
    this.addSql(`create index "usage_call_user" on "usage_call" ("user_id", "created_at");`);

    this.addSql(
      `create table "usage_counter" ("key" text not null, "starts_at" int not null, "ends_at" int not null, "requests" bigint not null, "tokens" bigint not null, "cost" double precision not null, primary key ("key", "starts_at"));`,
    );

    this.addSql(
      `create table "usage_hold" ("call_id" uuid not null, "key" text not null, "starts_at" int not null, "requests" bigint not null, "tokens" bigint not null, "cost" double precision not null, "expires_at" int not null, primary key ("call_id", "key", "starts_at"));`,
    );
    this.addSql(`create index "usage_hold_expiry" on "usage_hold" ("expires_at");`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "usage_call" cascade;`);
    this.addSql(`drop table if exists "usage_counter" cascade;`);
    this.addSql(`drop table if exists "usage_hold" cascade;`);
  }
}
