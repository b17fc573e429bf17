import { Migration } from '@mikro-orm/migrations';

/** Searches walk the newest messages of all channels; lists of threads find threads by their author. */
export class Migration20261121172536_searches extends Migration {
  override name = 'Migration20261121172536_searches';

  override up(): void | Promise<void> {
    this.addSql(`alter table "message" add "has_thread" boolean not null default false;`);
    this.addSql(`update "message" set "has_thread" = true where "latest_reply_at" is not null;`);
    this.addSql(`create index "message_began" on "message" ("channel_id", "user_id") where "has_thread";`);
    this.addSql(`create index "message_moment" on "message" ("created_at", "id");`);
    this.addSql(`create index "message_webhook" on "message" ("webhook_id") where "webhook_id" is not null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "message_began";`);
    this.addSql(`drop index "message_moment";`);
    this.addSql(`drop index "message_webhook";`);
    this.addSql(`alter table "message" drop column "has_thread";`);
  }
}
