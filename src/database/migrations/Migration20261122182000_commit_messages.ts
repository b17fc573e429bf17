import { Migration } from '@mikro-orm/migrations';

export class Migration20261122182000_commit_messages extends Migration {
  override name = 'Migration20261122182000_commit_messages';

  override up(): void | Promise<void> {
    this.addSql(`alter table "tool_version" add "commit_message" text null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "tool_version" drop column "commit_message";`);
  }
}
