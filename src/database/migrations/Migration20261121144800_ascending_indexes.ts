import { Migration } from '@mikro-orm/migrations';

/**
 * Indexes of messages in the order in which messages come: they stay dense (95 pages instead of 169 for 20,000 messages), and read
 * backwards they are as fast. The descending ones grew larger than `message_time`, so that the planner read a page of the main
 * line through that, past every reply in between. MikroORM does not see a change in an index's expression.
 */
export class Migration20261121144800_ascending_indexes extends Migration {
  override name = 'Migration20261121144800_ascending_indexes';

  override up(): void {
    this.recreate('');
  }

  override down(): void {
    this.recreate(' desc');
  }

  private recreate(order: '' | ' desc'): void {
    for (const name of ['main_line', 'thread', 'pinned']) this.addSql(`drop index "message_${name}";`);
    this.addSql(
      `create index "message_main_line" on "message" ("channel_id", "created_at"${order}) where "parent_id" is null;`,
    );
    this.addSql(`create index "message_thread" on "message" ("channel_id", "parent_id", "created_at"${order})
      where "parent_id" is not null;`);
    this.addSql(
      `create index "message_pinned" on "message" ("channel_id", "pinned_at"${order}) where "is_pinned";`,
    );
  }
}
