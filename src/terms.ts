/*
 * What nouns add to the words of the API: sections of the configuration, permissions, types of resources. A noun without any is
 * not listed.
 */
export { terms as access } from './access/access.terms.ts';
export { terms as auth } from './auth/auth.terms.ts';
export { terms as channels } from './channels/channels.terms.ts';
export { terms as configs } from './configs/configs.terms.ts';
export { terms as files } from './files/files.terms.ts';
export { terms as models } from './models/models.terms.ts';
export { terms as providers } from './providers/providers.terms.ts';
export { terms as settings } from './settings/settings.terms.ts';
export { terms as tools } from './tools/tools.terms.ts';
export { terms as usage } from './usage/usage.terms.ts';
