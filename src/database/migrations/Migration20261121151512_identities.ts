import { Migration } from '@mikro-orm/migrations';

export class Migration20261121151512_identities extends Migration {
  override name = 'Migration20261121151512_identities';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "provider_session" ("session_id" text not null, "issuer" text not null, "subject" text not null, "sid" text null, primary key ("session_id"));`,
    );
    this.addSql(`create index "provider_session_person" on "provider_session" ("issuer", "subject");`);

    this.addSql(
      `create table "identity" ("issuer" text not null, "subject" text not null, "user_id" uuid not null, "created_at" int not null, primary key ("issuer", "subject"));`,
    );
    this.addSql(`create index "identity_user_id_index" on "identity" ("user_id");`);

    this.addSql(
      `alter table "provider_session" add constraint "provider_session_session_id_foreign" foreign key ("session_id") references "session" ("id") on update cascade on delete cascade;`,
    );

    this.addSql(
      `alter table "identity" add constraint "identity_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "provider_session" cascade;`);
    this.addSql(`drop table if exists "identity" cascade;`);
  }
}
