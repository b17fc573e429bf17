import { defineNoun } from '../noun.ts';
import { UsageCall, UsageCounter, UsageHold } from './usage.entity.ts';
import { errors } from './usage.errors.ts';
import { startUsage } from './usage.parts.ts';
import { usageRouter } from './usage.router.ts';

export const usage = defineNoun({
  name: 'usage',
  errors,
  routers: { usage: usageRouter },
  entities: [UsageCall, UsageCounter, UsageHold],
  start: startUsage,
  onAccountDeleted: 'rows stay',
});
