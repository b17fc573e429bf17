import { Migration } from '@mikro-orm/migrations';

export class Migration20261121171058_account_places extends Migration {
  override name = 'Migration20261121171058_account_places';

  override up(): void | Promise<void> {
    this.addSql(`drop index "users_name_folded";`);
    this.addSql(`create index "users_name_place" on "users" (lower("name"), "ordinal") include ("name");`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "users_name_place";`);
    this.addSql(`create index "users_name_folded" on "users" (lower("name"));`);
  }
}
