import { Migration } from '@mikro-orm/migrations';

/** Questions that tools of models ask the people who called these models. */
export class Migration20261123070844_reply_questions extends Migration {
  override name = 'Migration20261123070844_reply_questions';

  override up(): void {
    this.addSql(
      `create table "reply_question" ("id" uuid not null, "channel_id" uuid not null, "message_id" uuid not null, "attempt" int not null, "user_id" uuid not null, "question" jsonb not null, "answer" text null, "ends_at" int not null, primary key ("id"));`,
    );
    this.addSql(`create index "reply_question_person" on "reply_question" ("user_id", "ends_at");`);
    this.addSql(`create index "reply_question_reply" on "reply_question" ("channel_id", "message_id");`);
    // A key of two columns: MikroORM cannot declare it.
    this.addSql(`alter table "reply_question" add constraint "reply_question_reply_foreign"
      foreign key ("channel_id", "message_id") references "model_reply" ("channel_id", "message_id") on delete cascade;`);
  }

  override down(): void {
    this.addSql(`drop table if exists "reply_question" cascade;`);
  }
}
