import { Migration } from '@mikro-orm/migrations';

export class Migration20261121181540_timezones extends Migration {
  override name = 'Migration20261121181540_timezones';

  override up(): void | Promise<void> {
    this.addSql(`alter table "users" add "timezone" text null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "users" drop column "timezone";`);
  }
}
