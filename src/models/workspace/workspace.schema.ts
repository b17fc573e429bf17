import { z } from 'zod';
import { label } from '../../core/wire.ts';

const ORDERS = ['name', 'created_at', 'updated_at'] as const;
export type ModelOrder = (typeof ORDERS)[number];

/** What a list of models is asked for. */
export const modelSearch = {
  query: label().optional().describe('Is looked for in name, id and base'),
  tag: label(64).optional().describe('Only models with this tag'),
  view_option: z.enum(['created', 'shared', '']).optional().describe("The caller's own, or those of others"),
  order_by: z.enum(ORDERS).default('updated_at'),
  direction: z.enum(['asc', 'desc']).default('desc'),
};
const Search = z.object(modelSearch);
export type ModelSearch = z.infer<typeof Search>;
