import type { Outputs } from '@parley/client';

export type PersonDetail = Outputs['users']['get'];
