import { Migration } from '@mikro-orm/migrations';

/** Keys of programs, when a session was seen last, and the audit log, which the database itself keeps from being changed. */
export class Migration20261121150113_identity extends Migration {
  override name = 'Migration20261121150113_identity';

  override up(): void {
    this.addSql(
      `create table "audit_entry" ("id" uuid not null, "created_at" int not null, "actor_id" uuid null, "actor_email" text null, "credential" text null, "credential_id" text null, "ip" text null, "action" text not null, "target_type" text null, "target_id" text null, "before" jsonb null, "after" jsonb null, primary key ("id"));`,
    );
    this.addSql(`create index "audit_entry_time" on "audit_entry" ("created_at");`);
    this.addSql(`create index "audit_entry_actor" on "audit_entry" ("actor_id", "id");`);
    this.addSql(`create index "audit_entry_action" on "audit_entry" ("action", "id");`);
    this.addSql(`create index "audit_entry_target" on "audit_entry" ("target_type", "target_id", "id");`);
    // The sweep says within its transaction that it is one; nothing else deletes, and nothing at all changes rows.
    this.addSql(`create or replace function "audit_entry_keep"() returns trigger language plpgsql as $$
      begin
        if tg_op = 'DELETE' and current_setting('parley.audit_sweep', true) = 'on' then
          return null;
        end if;
        raise exception 'The audit log is append-only.' using errcode = 'insufficient_privilege';
      end $$;`);
    this.addSql(`create trigger "audit_entry_keep" before update or delete or truncate on "audit_entry"
      for each statement execute function "audit_entry_keep"();`);

    this.addSql(
      `create table "api_key" ("id" uuid not null, "user_id" uuid not null, "name" text not null, "hash" text not null, "tail" text not null, "allowed_endpoints" jsonb null, "expires_at" int null, "last_used_at" int null, "created_at" int not null, primary key ("id"));`,
    );
    this.addSql(`alter table "api_key" add constraint "api_key_hash_unique" unique ("hash");`);
    this.addSql(`alter table "api_key" add constraint "api_key_name" unique ("user_id", "name");`);
    this.addSql(
      `alter table "api_key" add constraint "api_key_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade;`,
    );

    this.addSql(`alter table "session" add "last_seen_at" timestamptz not null default now();`);
  }

  override down(): void {
    this.addSql(`drop table if exists "audit_entry" cascade;`);
    this.addSql(`drop function if exists "audit_entry_keep"();`);
    this.addSql(`drop table if exists "api_key" cascade;`);
    this.addSql(`alter table "session" drop column "last_seen_at";`);
  }
}
