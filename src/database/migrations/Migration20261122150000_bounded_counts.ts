import { Migration } from '@mikro-orm/migrations';

/** Counts of unread messages read only these indexes: the newest messages of hundreds of channels lie all over the table. */
export class Migration20261122150000_bounded_counts extends Migration {
  override name = 'Migration20261122150000_bounded_counts';

  override up(): void {
    this.recreate(' include ("user_id", "deleted_at")', ' include ("message_id")');
    this.addSql(`create index "message_by_program" on "message" ("channel_id", "user_id", "created_at")
      where "webhook_id" is not null or jsonb_exists("meta", 'model_id');`);
    // Only what a vacuum has seen is read from an index alone: after two messages in a hundred are new, not after twenty.
    for (const table of ['message', 'message_mention']) {
      this.addSql(`alter table "${table}" set (autovacuum_vacuum_insert_scale_factor = 0.02);`);
    }
  }

  override down(): void {
    this.recreate('', '');
    this.addSql(`drop index "message_by_program";`);
    for (const table of ['message', 'message_mention']) {
      this.addSql(`alter table "${table}" reset (autovacuum_vacuum_insert_scale_factor);`);
    }
  }

  private recreate(ofMessages: string, ofMentions: string): void {
    this.addSql(`drop index "message_time";`);
    this.addSql(`create index "message_time" on "message" ("channel_id", "created_at")${ofMessages};`);
    this.addSql(`drop index "message_mention_user";`);
    this.addSql(
      `create index "message_mention_user" on "message_mention" ("channel_id", "user_id", "created_at")${ofMentions};`,
    );
  }
}
