import { Migration } from '@mikro-orm/migrations';

export class Migration20261121211905_channel_owner extends Migration {
  override name = 'Migration20261121211905_channel_owner';

  override up(): void | Promise<void> {
    this.addSql(`create index "channel_owner" on "channel" ("user_id") where "type" is null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "channel_owner";`);
  }
}
