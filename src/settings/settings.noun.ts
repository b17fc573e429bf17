import { defineNoun } from '../noun.ts';
import { settingsRouter } from './settings.router.ts';

export const settings = defineNoun({ name: 'settings', routers: { settings: settingsRouter } });
