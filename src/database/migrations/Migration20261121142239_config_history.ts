import { Migration } from '@mikro-orm/migrations';

/** Keeps each configuration that was in force. */
export class Migration20261121142239_config_history extends Migration {
  override name = 'Migration20261121142239_config_history';

  override up(): void {
    this.addSql(
      `create table "config_history" ("id" uuid not null, "revision" int not null, "data" jsonb not null, "origin" text not null, "changed" jsonb not null, "created_at" int not null, "created_by" uuid null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "config_history" add constraint "config_history_revision_unique" unique ("revision");`,
    );
  }

  override down(): void {
    this.addSql(`drop table if exists "config_history" cascade;`);
  }
}
