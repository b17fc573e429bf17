import { Migration } from '@mikro-orm/migrations';

/** `jsonb` sorts members; `json` keeps the order in which a tool declares its parameters. MikroORM sees no difference. */
export class Migration20261121063200_specifications_in_order extends Migration {
  override name = 'Migration20261121063200_specifications_in_order';

  override up(): void {
    for (const column of COLUMNS) this.addSql(`alter table "tool" alter column "${column}" type json;`);
  }

  override down(): void {
    for (const column of COLUMNS) this.addSql(`alter table "tool" alter column "${column}" type jsonb;`);
  }
}

const COLUMNS = ['specs', 'valves_schema', 'user_valves_schema'];
