import { Migration } from '@mikro-orm/migrations';

export class Migration20261121150623_tool_requirements extends Migration {
  override name = 'Migration20261121150623_tool_requirements';

  override up(): void | Promise<void> {
    this.addSql(
      `alter table "tool" add "requirements" jsonb not null default '[]', add "is_described" boolean not null default true;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "tool" drop column "requirements", drop column "is_described";`);
  }
}
