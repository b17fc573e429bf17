import { Migration } from '@mikro-orm/migrations';

/** A reply that is written again keeps its count of attempts. The default adds the column without a rewrite of the table. */
export class Migration20261124063924_reply_earlier_attempts extends Migration {
  override name = 'Migration20261124063924_reply_earlier_attempts';

  override up(): void {
    this.addSql(`alter table "model_reply" add column "earlier_attempts" int not null default 0;`);
  }

  override down(): void {
    this.addSql(`alter table "model_reply" drop column if exists "earlier_attempts";`);
  }
}
