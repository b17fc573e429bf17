import { Migration } from '@mikro-orm/migrations';

/** Replies of models: which message of a model answers which message, and how far it is. */
export class Migration20261123004300_model_replies extends Migration {
  override name = 'Migration20261123004300_model_replies';

  override up(): void {
    this.addSql(
      `create table "model_reply" ("channel_id" uuid not null, "message_id" uuid not null, "called_by" uuid not null, "model_id" text not null, "user_id" uuid not null, "key_id" uuid null, "depth" int not null, "attempt" int not null default 0, "has_begun" boolean not null default false, "stop_requested" boolean not null default false, "is_done" boolean not null default false, "ends_by" int not null, primary key ("channel_id", "message_id"));`,
    );
    this.addSql(`create index "model_reply_open" on "model_reply" ("ends_by") where not "is_done";`);
    this.addSql(
      `alter table "model_reply" add constraint "model_reply_called" unique ("channel_id", "called_by", "model_id");`,
    );
    // A key that shares a column with another one: MikroORM cannot declare it.
    this.addSql(`alter table "model_reply" add constraint "model_reply_message_foreign"
      foreign key ("channel_id", "message_id") references "message" ("channel_id", "id") on delete cascade;`);
  }

  override down(): void {
    this.addSql(`drop table if exists "model_reply" cascade;`);
  }
}
