import { Migration } from '@mikro-orm/migrations';

export class Migration20261121141402_folded_names extends Migration {
  override name = 'Migration20261121141402_folded_names';

  override up(): void | Promise<void> {
    this.addSql(`create index "users_name_folded" on "users" (lower("name"));`);
    this.addSql(
      `create index "users_username_folded" on "users" (lower("username")) where "username" is not null;`,
    );

    this.addSql(`create index "channel_reader_hidden" on "channel_reader" ("channel_id") where "is_hidden";`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "channel_reader_hidden";`);

    this.addSql(`drop index "users_name_folded";`);
    this.addSql(`drop index "users_username_folded";`);
  }
}
