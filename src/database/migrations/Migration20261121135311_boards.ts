import { Migration } from '@mikro-orm/migrations';

/** Members, readers, reactions, mentions, files and webhooks of channels. */
export class Migration20261121135311_boards extends Migration {
  override name = 'Migration20261121135311_boards';

  override up(): void {
    this.addSql(
      `create table "channel_webhook" ("id" uuid not null, "channel_id" uuid not null, "user_id" uuid not null, "name" text not null, "profile_image_url" text null, "token" text not null, "last_used_at" bigint null, "created_at" bigint not null, "updated_at" bigint not null, primary key ("id"));`,
    );
    this.addSql(`create index "channel_webhook_channel_id_index" on "channel_webhook" ("channel_id");`);

    this.addSql(
      `create table "message_mention" ("channel_id" uuid not null, "message_id" uuid not null, "user_id" uuid not null, "created_at" bigint not null, primary key ("channel_id", "message_id", "user_id"));`,
    );
    this.addSql(
      `create index "message_mention_user" on "message_mention" ("channel_id", "user_id", "created_at");`,
    );

    this.addSql(
      `create table "message_temp_id" ("channel_id" uuid not null, "user_id" uuid not null, "temp_id" text not null, "message_id" uuid not null, "created_at" bigint not null, primary key ("channel_id", "user_id", "temp_id"));`,
    );
    this.addSql(`create index "message_temp_id_created_at_index" on "message_temp_id" ("created_at");`);

    this.addSql(
      `create table "message_reaction" ("channel_id" uuid not null, "message_id" uuid not null, "name" text not null, "user_id" uuid not null, "created_at" bigint not null, primary key ("channel_id", "message_id", "name", "user_id"));`,
    );
    this.addSql(`create index "message_reaction_user_id_index" on "message_reaction" ("user_id");`);

    this.addSql(
      `create table "file" ("id" uuid not null, "user_id" uuid not null, "filename" text not null, "content_type" text not null, "size" bigint not null, "sha256" text not null, "meta" jsonb not null, "created_at" int not null, "updated_at" int not null, primary key ("id"));`,
    );
    this.addSql(`create index "file_user_id_index" on "file" ("user_id");`);

    this.addSql(
      `create table "message_file" ("channel_id" uuid not null, "message_id" uuid not null, "file_id" uuid not null, primary key ("channel_id", "message_id", "file_id"));`,
    );
    this.addSql(`create index "message_file_file_id_index" on "message_file" ("file_id");`);

    this.addSql(
      `create table "delivery" ("id" uuid not null, "user_id" uuid null, "channel_id" uuid null, "message_id" uuid null, "url" text not null, "payload" jsonb not null, "status" text not null default 'pending', "attempts" int not null default 0, "next_attempt_at" int null, "response_status" int null, "error" text null, "created_at" int not null, "updated_at" int not null, primary key ("id"));`,
    );
    this.addSql(`create index "delivery_user_id_index" on "delivery" ("user_id");`);
    this.addSql(`create index "delivery_created_at_index" on "delivery" ("created_at");`);
    this.addSql(
      `create index "delivery_due" on "delivery" ("next_attempt_at") where "next_attempt_at" is not null;`,
    );

    this.addSql(
      `create table "channel_reader" ("channel_id" uuid not null, "user_id" uuid not null, "last_read_at" bigint null, "notify" text not null default 'all', "is_hidden" boolean not null default false, primary key ("channel_id", "user_id"));`,
    );
    this.addSql(`create index "channel_reader_user_id_index" on "channel_reader" ("user_id");`);

    this.addSql(
      `create table "channel_member" ("channel_id" uuid not null, "user_id" uuid not null, "role" text null, "invited_by" uuid null, "joined_at" bigint not null, primary key ("channel_id", "user_id"));`,
    );
    this.addSql(`create index "channel_member_user_id_index" on "channel_member" ("user_id");`);

    this.addSql(
      `alter table "channel" add "pruned_event" bigint not null default '0', add "dm_key" text null;`,
    );
    this.addSql(`alter table "channel" add constraint "channel_dm_key_unique" unique ("dm_key");`);

    this.addSql(`alter table "message" add "webhook_id" uuid null;`);
    this.addSql(`create index "message_time" on "message" ("channel_id", "created_at");`);
    this.addSql(
      `create index "message_pinned" on "message" ("channel_id", "pinned_at" desc) where "is_pinned";`,
    );
    this.addSql(`create index "message_search" on "message" using gin (to_tsvector('simple', "content"));`);

    this.addSql(`alter table "users" add "settings" jsonb not null default '{}';`);

    this.addSql(
      `alter table "channel_webhook" add constraint "channel_webhook_channel_id_foreign" foreign key ("channel_id") references "channel" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "message_reaction" add constraint "message_reaction_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "file" add constraint "file_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "message_file" add constraint "message_file_file_id_foreign" foreign key ("file_id") references "file" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "delivery" add constraint "delivery_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "channel_reader" add constraint "channel_reader_channel_id_foreign" foreign key ("channel_id") references "channel" ("id") on update cascade on delete cascade;`,
    );
    this.addSql(
      `alter table "channel_reader" add constraint "channel_reader_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade;`,
    );

    this.addSql(
      `alter table "channel_member" add constraint "channel_member_channel_id_foreign" foreign key ("channel_id") references "channel" ("id") on update cascade on delete cascade;`,
    );
    this.addSql(
      `alter table "channel_member" add constraint "channel_member_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade;`,
    );

    // Keys that share a column with another one: MikroORM cannot declare them.
    for (const table of ['message_mention', 'message_reaction', 'message_temp_id', 'message_file']) {
      this.addSql(`alter table "${table}" add constraint "${table}_message_foreign"
        foreign key ("channel_id", "message_id") references "message" ("channel_id", "id") on delete cascade;`);
    }
    // By it a message that goes takes what hangs on it along; the primary keys of these begin otherwise.
    this.addSql(`create index "message_temp_id_message" on "message_temp_id" ("channel_id", "message_id");`);
  }

  override down(): void {
    this.addSql(`alter table "message_file" drop constraint "message_file_file_id_foreign";`);

    this.addSql(`drop table if exists "channel_webhook" cascade;`);
    this.addSql(`drop table if exists "message_mention" cascade;`);
    this.addSql(`drop table if exists "message_temp_id" cascade;`);
    this.addSql(`drop table if exists "message_reaction" cascade;`);
    this.addSql(`drop table if exists "file" cascade;`);
    this.addSql(`drop table if exists "message_file" cascade;`);
    this.addSql(`drop table if exists "delivery" cascade;`);
    this.addSql(`drop table if exists "channel_reader" cascade;`);
    this.addSql(`drop table if exists "channel_member" cascade;`);

    this.addSql(`alter table "channel" drop constraint "channel_dm_key_unique";`);
    this.addSql(`alter table "channel" drop column "pruned_event", drop column "dm_key";`);

    this.addSql(`drop index "message_time";`);
    this.addSql(`drop index "message_pinned";`);
    this.addSql(`drop index "message_search";`);
    this.addSql(`alter table "message" drop column "webhook_id";`);

    this.addSql(`alter table "users" drop column "settings";`);
  }
}
