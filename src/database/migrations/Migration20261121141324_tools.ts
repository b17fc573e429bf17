import { Migration } from '@mikro-orm/migrations';

/** Versions, runs and valves of tools. */
export class Migration20261121141324_tools extends Migration {
  override name = 'Migration20261121141324_tools';

  override up(): void {
    this.addSql(
      `create table "tool_run" ("id" uuid not null, "tool_id" text not null, "version" int not null, "user_id" uuid not null, "function" text not null, "outcome" text not null, "started_at" int not null, "duration_ms" double precision not null, "cpu_ms" double precision null, "peak_memory_bytes" bigint null, primary key ("id"));`,
    );
    this.addSql(`create index "tool_run_tool" on "tool_run" ("tool_id", "id");`);

    this.addSql(
      `create table "tool_version" ("tool_id" text not null, "version" int not null, "user_id" uuid not null, "content" text not null, "restored_from" int null, "created_at" int not null, primary key ("tool_id", "version"));`,
    );

    // Existing tools become their own first version.
    this.addSql(`insert into "tool_version" ("tool_id", "version", "user_id", "content", "created_at")
      select "id", 1, "user_id", "content", "updated_at" from "tool";`);

    this.addSql(
      `create table "tool_user_valves" ("tool_id" text not null, "user_id" uuid not null, "valves" text not null, "updated_at" int not null, primary key ("tool_id", "user_id"));`,
    );
    this.addSql(`create index "tool_user_valves_user_id_index" on "tool_user_valves" ("user_id");`);

    this.addSql(`alter table "tool" add "version" int not null default 1, add "valves" text null;`);

    this.addSql(
      `alter table "tool_run" add constraint "tool_run_tool_id_foreign" foreign key ("tool_id") references "tool" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "tool_version" add constraint "tool_version_tool_id_foreign" foreign key ("tool_id") references "tool" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "tool_user_valves" add constraint "tool_user_valves_tool_id_foreign" foreign key ("tool_id") references "tool" ("id") on update cascade on delete cascade;`,
    );
    this.addSql(
      `alter table "tool_user_valves" add constraint "tool_user_valves_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade;`,
    );
  }

  override down(): void {
    this.addSql(`drop table if exists "tool_run" cascade;`);
    this.addSql(`drop table if exists "tool_version" cascade;`);
    this.addSql(`drop table if exists "tool_user_valves" cascade;`);

    this.addSql(`alter table "tool" drop column "version", drop column "valves";`);
  }
}
