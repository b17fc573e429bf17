import { Migration } from '@mikro-orm/migrations';

export class Migration20261121152302_threads extends Migration {
  override name = 'Migration20261121152302_threads';

  override up(): void | Promise<void> {
    this.addSql(
      `create index "message_replied" on "message" ("channel_id", "user_id", "parent_id") where "parent_id" is not null;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "message_replied";`);
  }
}
