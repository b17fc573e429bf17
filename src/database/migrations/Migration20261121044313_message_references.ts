import { Migration } from '@mikro-orm/migrations';

/**
 * Messages refer to messages of their own channel only. MikroORM cannot declare a key that shares a column with another one, so
 * these are written by hand. A reply whose root is deleted at the same moment fails here instead of becoming an orphan.
 */
export class Migration20261121044313_message_references extends Migration {
  override name = 'Migration20261121044313_message_references';

  override up(): void {
    this.addSql(`alter table "message" add constraint "message_parent_foreign"
      foreign key ("channel_id", "parent_id") references "message" ("channel_id", "id");`);
    this.addSql(`alter table "message" add constraint "message_reply_to_foreign"
      foreign key ("channel_id", "reply_to_id") references "message" ("channel_id", "id")
      on delete set null ("reply_to_id");`);
    this.addSql(`create index "message_reply_to" on "message" ("channel_id", "reply_to_id")
      where "reply_to_id" is not null;`);
  }

  override down(): void {
    this.addSql('drop index "message_reply_to";');
    this.addSql('alter table "message" drop constraint "message_reply_to_foreign";');
    this.addSql('alter table "message" drop constraint "message_parent_foreign";');
  }
}
