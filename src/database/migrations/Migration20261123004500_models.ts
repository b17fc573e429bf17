import { Migration } from '@mikro-orm/migrations';

/** Records over models, with their versions. */
export class Migration20261123004500_models extends Migration {
  override name = 'Migration20261123004500_models';

  override up(): void {
    this.addSql(
      `create table "model" ("id" text not null, "user_id" uuid not null, "base_model_id" text null, "opens_base" boolean not null default false, "name" text not null, "params" json not null, "meta" json not null, "picture" text null, "is_active" boolean not null default true, "version" int not null default 1, "created_at" int not null, "updated_at" int not null, primary key ("id"));`,
    );
    this.addSql(`create index "model_user_id_index" on "model" ("user_id");`);
    this.addSql(`create index "model_base" on "model" ("base_model_id");`);
    this.addSql(
      `create table "model_version" ("id" uuid not null, "model_id" text not null, "version" int not null, "user_id" uuid not null, "snapshot" json not null, "commit_message" text null, "created_at" int not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "model_version" add constraint "model_version_number" unique ("model_id", "version");`,
    );
    this.addSql(
      `alter table "model_version" add constraint "model_version_model_id_foreign" foreign key ("model_id") references "model" ("id") on delete cascade;`,
    );
  }

  override down(): void {
    this.addSql(`drop table if exists "model_version" cascade;`);
    this.addSql(`drop table if exists "model" cascade;`);
  }
}
