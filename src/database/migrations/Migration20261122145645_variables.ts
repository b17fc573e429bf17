import { Migration } from '@mikro-orm/migrations';

export class Migration20261122145645_variables extends Migration {
  override name = 'Migration20261122145645_variables';

  override up(): void | Promise<void> {
    this.addSql(`alter table "users" add "variables" jsonb not null default '{}';`);
    this.addSql(`create index "users_updated" on "users" ("updated_at", "ordinal");`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "users_updated";`);
    this.addSql(`alter table "users" drop column "variables";`);
  }
}
