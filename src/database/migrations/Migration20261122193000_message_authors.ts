import { Migration } from '@mikro-orm/migrations';

/**
 * The author of a message has a type: an account, a webhook or a model. The columns come with a constant default, which rewrites
 * no table; only the messages of programs, which an index finds, are updated. Both new indexes hold these alone.
 */
export class Migration20261122193000_message_authors extends Migration {
  override name = 'Migration20261122193000_message_authors';

  override up(): void {
    this.addSql(
      `alter table "message" add "author_type" text not null default 'user', add "author_id" text null;`,
    );
    this.addSql(`update "message" set "author_type" = case when "webhook_id" is null then 'model' else 'webhook' end,
        "author_id" = coalesce("webhook_id"::text, "meta" ->> 'model_id')
      where "webhook_id" is not null or jsonb_exists("meta", 'model_id');`);
    this.addSql(`drop index "message_by_program";`);
    this.addSql(`drop index "message_webhook";`);
    this.addSql(`alter table "message" drop column "webhook_id";`);
    this.addSql(`create index "message_by_program" on "message" ("channel_id", "user_id", "created_at")
      where "author_type" <> 'user';`);
    this.addSql(`create index "message_author" on "message" ("author_id") where "author_id" is not null;`);
  }

  override down(): void {
    this.addSql(`alter table "message" add "webhook_id" uuid null;`);
    this.addSql(
      `update "message" set "webhook_id" = "author_id"::uuid where "author_type" = 'webhook' and "author_id" is not null;`,
    );
    this.addSql(`drop index "message_by_program";`);
    this.addSql(`drop index "message_author";`);
    this.addSql(`alter table "message" drop column "author_type", drop column "author_id";`);
    this.addSql(`create index "message_by_program" on "message" ("channel_id", "user_id", "created_at")
      where "webhook_id" is not null or jsonb_exists("meta", 'model_id');`);
    this.addSql(`create index "message_webhook" on "message" ("webhook_id") where "webhook_id" is not null;`);
  }
}
