import { identifyLater } from '../auth/behalf.service.ts';
import { requireChannel, requireChannels } from '../channelbase/channels.access.service.ts';
import type { Reach } from '../core/access.ts';
import { AppError } from '../core/errors.ts';
import { createScope, type Parts, type Scope } from '../core/scope.ts';
import { currentRequestId } from '../core/work.ts';
import type { OpenReply } from './replies.repository.ts';

/**
 * The scope of the person who called a model, with the rights that the person has now. A reply that was
 * called with an API key may do what that key may.
 *
 * @throws reply_not_allowed if the person may not write in the channel any more
 */
export async function openReplyScope(parts: Parts, reply: OpenReply, signal: AbortSignal): Promise<Scope> {
  const { channel_id, message_id, user_id: userId, key_id: keyId } = reply;
  const own: Reach = [['api', 'channels', channel_id, 'messages', 'post']];
  const identify = async (besides?: Reach) => {
    const actor = await identifyLater(parts, { userId, keyId }, own);
    return besides ? identifyLater(parts, { userId, keyId }, besides) : actor;
  };
  const actor = await identify().catch(refuse);
  const scope = createScope({
    parts,
    actor,
    request: { id: currentRequestId() ?? message_id, ip: '', userAgent: '', sameOrigin: false },
    reply: { setSession: () => {} },
    identify,
    signal,
  });
  await requireWriter(scope, channel_id);
  return scope;
}

async function requireWriter(scope: Scope, channelId: string): Promise<void> {
  try {
    requireChannels(scope);
    await requireChannel(scope, channelId, 'write');
  } catch (error) {
    refuse(error);
  }
}

function refuse(error: unknown): never {
  throw error instanceof AppError ? new AppError('reply_not_allowed', { cause: error }) : error;
}
