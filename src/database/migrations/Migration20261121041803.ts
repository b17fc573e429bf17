import { Migration } from '@mikro-orm/migrations';

export class Migration20261121041803 extends Migration {
  override name = 'Migration20261121041803';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "access_grant" ("id" uuid not null, "resource_type" text not null, "resource_id" text not null, "principal_type" text not null, "principal_id" text not null, "permission" text not null, "created_at" int not null, primary key ("id"));`,
    );
    this.addSql(
      `create index "access_grant_principal" on "access_grant" ("principal_type", "principal_id", "resource_type");`,
    );
    this.addSql(
      `alter table "access_grant" add constraint "access_grant_unique" unique ("resource_type", "resource_id", "principal_type", "principal_id", "permission");`,
    );

    this.addSql(
      `create table "channel" ("id" uuid not null, "user_id" uuid not null, "type" text null, "name" text not null, "description" text null, "is_private" boolean null, "data" jsonb null, "meta" jsonb null, "created_at" bigint not null, "updated_at" bigint not null, "updated_by" uuid null, "last_event" bigint not null default '0', "last_event_at" bigint not null default '0', "last_message_at" bigint null, primary key ("id"));`,
    );

    this.addSql(
      `create table "channel_event" ("channel_id" uuid not null, "id" bigint not null, "type" text not null, "message_id" uuid null, "actor" jsonb not null, "data" jsonb not null, "created_at" bigint not null, primary key ("channel_id", "id"));`,
    );
    this.addSql(`create index "channel_event_created_at" on "channel_event" ("created_at");`);

    this.addSql(
      `create table "config" ("id" int not null, "revision" int not null, "data" jsonb not null, "updated_at" int not null, "updated_by" uuid null, "installation_id" uuid not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "message" ("channel_id" uuid not null, "id" uuid not null, "user_id" uuid not null, "content" text not null, "reply_to_id" uuid null, "parent_id" uuid null, "is_pinned" boolean not null default false, "pinned_by" uuid null, "pinned_at" bigint null, "data" jsonb not null, "meta" jsonb not null, "reply_count" int not null default 0, "latest_reply_at" bigint null, "created_at" bigint not null, "updated_at" bigint not null, primary key ("channel_id", "id"));`,
    );
    this.addSql(`create index "message_user_id_index" on "message" ("user_id");`);
    this.addSql(
      `create index "message_main_line" on "message" ("channel_id", "created_at" desc) where "parent_id" is null;`,
    );
    this.addSql(
      `create index "message_thread" on "message" ("channel_id", "parent_id", "created_at" desc) where "parent_id" is not null;`,
    );

    this.addSql(
      `create table "tool" ("id" text not null, "user_id" uuid not null, "name" text not null, "content" text not null, "meta" jsonb not null, "specs" jsonb not null, "valves_schema" jsonb null, "user_valves_schema" jsonb null, "created_at" int not null, "updated_at" int not null, primary key ("id"));`,
    );
    this.addSql(`create index "tool_user_id_index" on "tool" ("user_id");`);

    this.addSql(
      `create table "users" ("id" uuid not null, "email" text not null, "username" text null, "name" text not null, "role" text not null, "password_hash" text null, "profile_image_url" text not null, "oauth" jsonb null, "last_active_at" int not null, "created_at" int not null, "updated_at" int not null, "ordinal" serial, primary key ("id"));`,
    );
    this.addSql(`alter table "users" add constraint "users_email_unique" unique ("email");`);
    this.addSql(`alter table "users" add constraint "users_ordinal_unique" unique ("ordinal");`);

    this.addSql(
      `create table "session" ("id" text not null, "user_id" uuid not null, "expires_at" timestamptz not null, "created_at" timestamptz not null, "ip" text not null, "user_agent" text not null, primary key ("id"));`,
    );
    this.addSql(`create index "session_user_id_index" on "session" ("user_id");`);
    this.addSql(`create index "session_expires_at_index" on "session" ("expires_at");`);

    this.addSql(
      `alter table "channel_event" add constraint "channel_event_channel_id_foreign" foreign key ("channel_id") references "channel" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "message" add constraint "message_channel_id_foreign" foreign key ("channel_id") references "channel" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "session" add constraint "session_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade;`,
    );
  }
}
