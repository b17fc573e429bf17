import { may } from '../configs/settings/permissions.ts';
import type { Scope } from '../core/scope.ts';
import type { Reader } from './files.policy.ts';

/** The caller as a reader of files. */
export const readerOf = (scope: Scope): Reader => ({
  ...scope.actor,
  usesChannels: scope.configs.current.channels.enable && may(scope, 'features.channels'),
});
