import { memberWith } from '../core/trpc/trpc.ts';
import { requireChannels } from './channels.access.service.ts';

/** The base of every procedure about channels: they are switched on, and the caller may use them. */
export const channelMember = memberWith(requireChannels);
