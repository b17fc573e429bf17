import { Migration } from '@mikro-orm/migrations';

export class Migration20261121205451_secret_mark extends Migration {
  override name = 'Migration20261121205451_secret_mark';

  override up(): void | Promise<void> {
    this.addSql(`alter table "config" add "secret_mark" text null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "config" drop column "secret_mark";`);
  }
}
