import { defineEntity, p } from '@mikro-orm/core';
import { User } from '../../users/users.entity.ts';
import { Session } from '../sessions/session.entity.ts';

/** The identity of an account at an OpenID provider or in the directory. */
export const Identity = defineEntity({
  name: 'Identity',
  tableName: 'identity',
  properties: {
    /** The issuer as its tokens name it, or `ldap`. The same subject of another issuer is another person. */
    issuer: p.text().primary(),
    /** Compared exactly, case included. */
    subject: p.text().primary(),
    user: () => p.manyToOne(User).deleteRule('cascade').index(),
    /** Unix seconds. */
    created_at: p.integer(),
  },
});

/** A session that began at a provider, which may end it (OpenID Connect Back-Channel Logout 1.0). */
export const ProviderSession = defineEntity({
  name: 'ProviderSession',
  tableName: 'provider_session',
  properties: {
    session: () => p.oneToOne(Session).primary().deleteRule('cascade'),
    issuer: p.text(),
    subject: p.text(),
    /** The provider's id of the session; null if it gives none. */
    sid: p.text().nullable(),
  },
  indexes: [{ name: 'provider_session_person', properties: ['issuer', 'subject'] }],
});
