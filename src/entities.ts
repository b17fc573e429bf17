import { AccessGrant } from './access/access.entity.ts';
import { AuditEntry } from './audit/audit.entity.ts';
import { Identity, ProviderSession } from './auth/identities/identities.entity.ts';
import { ApiKey } from './auth/keys/keys.entity.ts';
import { Session } from './auth/sessions/session.entity.ts';
import { Channel } from './channels/channels.entity.ts';
import { ChannelEvent } from './channels/events/events.entity.ts';
import { ConfigHistory, ConfigRow } from './configs/configs.entity.ts';
import { File, MessageFile } from './files/files.entity.ts';
import { Group, GroupMember } from './groups/groups.entity.ts';
import { ChannelMember } from './members/members.entity.ts';
import { MessageMention } from './mentions/mentions.entity.ts';
import { Message, MessageTempId } from './messages/messages.entity.ts';
import { MessageReaction } from './reactions/reactions.entity.ts';
import { ChannelReader } from './reads/reads.entity.ts';
import { ToolRun } from './tools/runs/runs.entity.ts';
import { Tool } from './tools/tools.entity.ts';
import { ToolUserValves } from './tools/valves/valves.entity.ts';
import { ToolVersion } from './tools/versions/versions.entity.ts';
import { User } from './users/users.entity.ts';
import { ChannelWebhook, Delivery } from './webhooks/webhooks.entity.ts';

/** Every table; `mikro-orm.config.ts` and the server read this one list. */
export const entities = [
  AccessGrant,
  ApiKey,
  AuditEntry,
  Channel,
  ChannelEvent,
  ChannelMember,
  ChannelReader,
  ChannelWebhook,
  ConfigHistory,
  ConfigRow,
  Delivery,
  File,
  Group,
  GroupMember,
  Identity,
  Message,
  MessageFile,
  MessageMention,
  MessageReaction,
  MessageTempId,
  ProviderSession,
  Session,
  Tool,
  ToolRun,
  ToolUserValves,
  ToolVersion,
  User,
];
