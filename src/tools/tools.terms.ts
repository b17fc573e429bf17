import { z } from 'zod';
import { defineTerms, server } from '../core/terms.ts';

export const terms = defineTerms({
  sections: {
    tools: {
      schema: z.looseObject({ install_requirements: z.boolean() }).optional(),
      defaults: { install_requirements: false },
      settings: {
        install_requirements: server('Packages that tools name in their frontmatter are installed for them'),
      },
    },
  },
  permissions: {
    workspace: { tools: false, tools_import: false, tools_export: false },
    sharing: { public_tools: false },
  },
  grantable: 'tool',
});
