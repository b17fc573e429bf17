import { defineTerms } from '../core/terms.ts';

export const terms = defineTerms({ permissions: { features: { direct_tool_servers: false } } });
