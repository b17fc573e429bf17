import { memberWith } from '../core/trpc/trpc.ts';
import { requireChannels } from './channels.access.service.ts';

/**
 * The base of all procedures about channels: channels are enabled, and the caller has the permission to use
 * them.
 */
export const channelMember = memberWith(requireChannels);
