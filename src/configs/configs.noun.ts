import { defineNoun } from '../noun.ts';
import { ConfigHistory, ConfigRow } from './configs.entity.ts';
import { errors } from './configs.errors.ts';
import { resealConfigs } from './configs.reseal.ts';
import { configsRouter } from './configs.router.ts';
import { partsRouter } from './parts/parts.router.ts';

export const configs = defineNoun({
  name: 'configs',
  errors,
  routers: { configs: configsRouter, configParts: partsRouter },
  entities: [ConfigHistory, ConfigRow],
  reseal: async (sql, secret) => [await resealConfigs(sql, secret)],
});
