import { Migration } from '@mikro-orm/migrations';

export class Migration20261121055212_tombstones extends Migration {
  override name = 'Migration20261121055212_tombstones';

  override up(): void | Promise<void> {
    this.addSql(`create index "channel_event_message" on "channel_event" ("channel_id", "message_id");`);

    this.addSql(`alter table "message" add "deleted_at" bigint null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "channel_event_message";`);

    this.addSql(`alter table "message" drop column "deleted_at";`);
  }
}
