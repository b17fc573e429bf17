import { Migration } from '@mikro-orm/migrations';

export class Migration20261122183000_edited_texts extends Migration {
  override name = 'Migration20261122183000_edited_texts';

  override up(): void | Promise<void> {
    this.addSql(`alter table "file" add "edited_text" text null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "file" drop column "edited_text";`);
  }
}
