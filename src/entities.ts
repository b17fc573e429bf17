import { AccessGrant } from './access/access.entity.ts';
import { Session } from './auth/session.entity.ts';
import { Channel, ChannelEvent, Message } from './channels/channels.entity.ts';
import { ConfigRow } from './configs/configs.entity.ts';
import { Tool } from './tools/tools.entity.ts';
import { User } from './users/users.entity.ts';

/** Every table; `mikro-orm.config.ts` and the server read this one list. */
export const entities = [AccessGrant, Channel, ChannelEvent, ConfigRow, Message, Session, Tool, User];
