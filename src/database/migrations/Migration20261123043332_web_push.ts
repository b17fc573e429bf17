import { Migration } from '@mikro-orm/migrations';

export class Migration20261123043332_web_push extends Migration {
  override name = 'Migration20261123043332_web_push';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "push_key" ("id" int not null, "private_key" text not null, "created_at" int not null, primary key ("id"));`,
    );

    this.addSql(
      `create table "push_subscription" ("id" uuid not null, "user_id" uuid not null, "session_id" text not null, "endpoint_hash" text not null, "origin" text not null, "target" text not null, "created_at" int not null, primary key ("id"));`,
    );
    this.addSql(`create index "push_subscription_user_id_index" on "push_subscription" ("user_id");`);
    this.addSql(`create index "push_subscription_session_id_index" on "push_subscription" ("session_id");`);
    this.addSql(
      `alter table "push_subscription" add constraint "push_subscription_endpoint_hash_unique" unique ("endpoint_hash");`,
    );

    this.addSql(
      `alter table "delivery" add "kind" text not null default 'webhook', add "push_id" uuid null;`,
    );
    this.addSql(
      `alter table "delivery" add constraint "delivery_push_id_foreign" foreign key ("push_id") references "push_subscription" ("id") on delete set null;`,
    );
    this.addSql(`create index "delivery_push_id_index" on "delivery" ("push_id");`);

    this.addSql(
      `alter table "push_subscription" add constraint "push_subscription_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade;`,
    );
    this.addSql(
      `alter table "push_subscription" add constraint "push_subscription_session_id_foreign" foreign key ("session_id") references "session" ("id") on delete cascade;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "delivery" drop constraint "delivery_push_id_foreign";`);

    this.addSql(`drop table if exists "push_key" cascade;`);
    this.addSql(`drop table if exists "push_subscription" cascade;`);

    this.addSql(`drop index "delivery_push_id_index";`);
    this.addSql(`alter table "delivery" drop column "kind", drop column "push_id";`);
  }
}
