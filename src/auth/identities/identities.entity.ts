import { defineEntity, p } from '@mikro-orm/core';
import { User } from '../../users/users.entity.ts';
import { Session } from '../sessions/session.entity.ts';

/** Who an account is to somebody else who vouches for people: an OpenID provider, or the directory. */
export const Identity = defineEntity({
  name: 'Identity',
  tableName: 'identity',
  properties: {
    /** The issuer as its tokens name it, or `ldap`. The same subject of another issuer is another person. */
    issuer: p.text().primary(),
    /** Compared as it is, to the last character and case. */
    subject: p.text().primary(),
    user: () => p.manyToOne(User).deleteRule('cascade').index(),
    /** Unix seconds. */
    created_at: p.integer(),
  },
});

/** A session that began at a provider, which may end it there (OpenID Connect Back-Channel Logout 1.0). */
export const ProviderSession = defineEntity({
  name: 'ProviderSession',
  tableName: 'provider_session',
  properties: {
    session: () => p.oneToOne(Session).primary().deleteRule('cascade'),
    issuer: p.text(),
    subject: p.text(),
    /** The provider's own name of the session, where it gives one. */
    sid: p.text().nullable(),
  },
  indexes: [{ name: 'provider_session_person', properties: ['issuer', 'subject'] }],
});
