import { defineNoun } from '../noun.ts';
import { errors } from './providers.errors.ts';
import { startProviders } from './providers.parts.ts';

export const providers = defineNoun({ name: 'providers', errors, start: startProviders });
