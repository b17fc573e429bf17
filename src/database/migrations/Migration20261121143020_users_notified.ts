import { Migration } from '@mikro-orm/migrations';

/** Finds the people who have a webhook among all. */
export class Migration20261121143020_users_notified extends Migration {
  override name = 'Migration20261121143020_users_notified';

  override up(): void {
    this.addSql(
      `create index "users_notified" on "users" (nullif("settings" #>> '{ui,notifications,webhook_url}', ''));`,
    );
  }

  override down(): void {
    this.addSql(`drop index "users_notified";`);
  }
}
