import { Migration } from '@mikro-orm/migrations';

/** Groups below other groups. `group_ancestor` has every group above a group, so that rights need no recursion. */
export class Migration20261124063000_nested_groups extends Migration {
  override name = 'Migration20261124063000_nested_groups';

  override up(): void {
    // A table that refers to itself: MikroORM cannot infer its type.
    this.addSql(`alter table "user_group" add "parent_group_id" text null
      constraint "user_group_parent_group_id_foreign" references "user_group" ("id") on update cascade on delete set null;`);
    this.addSql(`create index "user_group_parent_group_id_index" on "user_group" ("parent_group_id");`);
    this.addSql(
      `create table "group_ancestor" ("group_id" text not null, "ancestor_id" text not null, primary key ("group_id", "ancestor_id"));`,
    );
    this.addSql(`create index "group_ancestor_ancestor_id_index" on "group_ancestor" ("ancestor_id");`);
    this.addSql(`alter table "group_ancestor" add constraint "group_ancestor_group_id_foreign"
      foreign key ("group_id") references "user_group" ("id") on update cascade on delete cascade;`);
    this.addSql(`alter table "group_ancestor" add constraint "group_ancestor_ancestor_id_foreign"
      foreign key ("ancestor_id") references "user_group" ("id") on update cascade on delete cascade;`);
  }

  override down(): void {
    this.addSql(`drop table if exists "group_ancestor" cascade;`);
    this.addSql(`alter table "user_group" drop column "parent_group_id";`);
  }
}
