import { Migration } from '@mikro-orm/migrations';

export class Migration20261121141806_event_retention extends Migration {
  override name = 'Migration20261121141806_event_retention';

  override up(): void | Promise<void> {
    this.addSql(`alter table "channel" add "pruned_at" bigint not null default '0';`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "channel" drop column "pruned_at";`);
  }
}
