import { Migration } from '@mikro-orm/migrations';

export class Migration20261121171532_account_activity extends Migration {
  override name = 'Migration20261121171532_account_activity';

  override up(): void | Promise<void> {
    this.addSql(`create index "users_last_active" on "users" ("last_active_at", "ordinal");`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "users_last_active";`);
  }
}
