import { Migration } from '@mikro-orm/migrations';

export class Migration20261121151418_groups extends Migration {
  override name = 'Migration20261121151418_groups';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "user_group" ("id" text not null, "user_id" uuid not null, "name" text not null, "description" text not null, "data" jsonb null, "meta" jsonb null, "permissions" jsonb null, "created_at" int not null, "updated_at" int not null, primary key ("id"));`,
    );
    this.addSql(`alter table "user_group" add constraint "user_group_name_unique" unique ("name");`);

    this.addSql(
      `create table "group_member" ("group_id" text not null, "user_id" uuid not null, "source" text not null, "created_at" int not null, primary key ("group_id", "user_id", "source"));`,
    );
    this.addSql(`create index "group_member_user_id_index" on "group_member" ("user_id");`);

    this.addSql(
      `alter table "users" add "bio" text null, add "gender" text null, add "date_of_birth" text null, add "status_emoji" text null, add "status_message" text null, add "status_expires_at" int null, add "info" jsonb null;`,
    );
    this.addSql(`create index "users_role" on "users" ("role", "ordinal");`);

    this.addSql(
      `alter table "group_member" add constraint "group_member_group_id_foreign" foreign key ("group_id") references "user_group" ("id") on delete cascade;`,
    );
    this.addSql(
      `alter table "group_member" add constraint "group_member_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "group_member" cascade;`);
    this.addSql(`drop table if exists "user_group" cascade;`);

    this.addSql(`drop index "users_role";`);
    this.addSql(
      `alter table "users" drop column "bio", drop column "gender", drop column "date_of_birth", drop column "status_emoji", drop column "status_message", drop column "status_expires_at", drop column "info";`,
    );
  }
}
