import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'ldapts';
import { until } from '../support/poll.ts';
import { freePort } from '../support/process.ts';

/** The path of Debian's package, which is in the PATH of root only. */
const SLAPD = '/usr/sbin/slapd';

/**
 * The reason why tests with a directory are skipped here; undefined when they run. In CI they fail instead.
 */
export const withoutSlapd = spawnSync(SLAPD, ['-VV']).error !== undefined && process.env.CI !== 'true';

export const BASE = 'dc=example,dc=com';
const ROOT = { dn: `cn=root,${BASE}`, password: 'the root of the tree' };
const APP = { dn: `cn=search,${BASE}`, password: 'may only search' };

export interface Slapd {
  port: number;
  tlsPort: number;
  /** The certificate of the authority that signed the certificate of the server. */
  authority: string;
  /** A certificate of another authority with the same name. */
  otherAuthority: string;
  /** The environment for `startServer`, for an unencrypted connection. */
  env: Record<string, string>;
  /** Adds a person, with any number of values for each attribute. */
  add(uid: string, attributes?: Record<string, string | string[]>): Promise<void>;
  /** Creates a group of people. */
  group(name: string, uids: string[]): Promise<void>;
  /** Changes the tree as its owner. */
  asRoot(work: (client: Client) => Promise<void>): Promise<void>;
  /** Keeps connections open without answers, until `resume`. */
  hang(): Promise<void>;
  resume(): void;
  stop(): Promise<void>;
}

export const dnOf = (uid: string): string => `uid=${uid},ou=people,${BASE}`;
export const PASSWORD = 'right password';

/**
 * Starts OpenLDAP with an empty tree on free ports of this machine. It accepts a bind with a name and no
 * password as anonymous, like real directories do.
 */
export async function startSlapd(): Promise<Slapd> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-slapd-'));
  const [port, tlsPort] = [await freePort(), await freePort()];
  await mkdir(join(folder, 'data'));
  makeCertificate(folder);
  await writeFile(
    join(folder, 'slapd.conf'),
    `include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload memberof
pidfile ${folder}/slapd.pid
allow bind_anon_cred bind_anon_dn
TLSCACertificateFile ${folder}/authority.pem
TLSCertificateFile ${folder}/server.pem
TLSCertificateKeyFile ${folder}/server.key
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="${APP.dn}" read by anonymous auth by * none
database mdb
suffix "${BASE}"
rootdn "${ROOT.dn}"
rootpw "${ROOT.password}"
directory ${folder}/data
overlay memberof
`,
  );
  const urls = `ldap://127.0.0.1:${port}/ ldaps://127.0.0.1:${tlsPort}/`;
  const child: ChildProcess = spawn(SLAPD, ['-d', '0', '-f', join(folder, 'slapd.conf'), '-h', urls], {
    stdio: 'ignore',
  });

  async function asRoot(work: (client: Client) => Promise<void>) {
    const client = new Client({ url: `ldap://127.0.0.1:${port}`, connectTimeout: 60_000, timeout: 60_000 });
    try {
      await client.bind(ROOT.dn, ROOT.password);
      await work(client);
    } finally {
      await client.unbind();
    }
  }
  await until('slapd to answer', () =>
    asRoot(async () => {}).then(
      () => true,
      () => child.exitCode !== null && 'ended',
    ),
  );
  await asRoot(async (client) => {
    await client.add(BASE, { objectClass: ['dcObject', 'organization'], dc: 'example', o: 'Example' });
    for (const ou of ['people', 'groups']) {
      await client.add(`ou=${ou},${BASE}`, { objectClass: 'organizationalUnit', ou });
    }
    await client.add(APP.dn, {
      objectClass: ['organizationalRole', 'simpleSecurityObject'],
      cn: 'search',
      userPassword: APP.password,
    });
  });

  return {
    port,
    tlsPort,
    authority: join(folder, 'authority.pem'),
    otherAuthority: join(folder, 'other.pem'),
    env: {
      ENABLE_LDAP: 'true',
      LDAP_SERVER_HOST: '127.0.0.1',
      LDAP_SERVER_PORT: `${port}`,
      LDAP_USE_TLS: 'false',
      LDAP_APP_DN: APP.dn,
      LDAP_APP_PASSWORD: APP.password,
      LDAP_SEARCH_BASE: BASE,
    },
    asRoot,
    add: (uid, attributes = {}) =>
      asRoot((client) =>
        client.add(dnOf(uid), {
          objectClass: 'inetOrgPerson',
          uid,
          cn: uid,
          sn: uid,
          mail: `${uid}@example.com`,
          userPassword: PASSWORD,
          ...attributes,
        }),
      ),
    group: (name, uids) =>
      asRoot((client) =>
        client.add(`cn=${name},ou=groups,${BASE}`, {
          objectClass: 'groupOfNames',
          cn: name,
          member: uids.map(dnOf),
        }),
      ),
    async hang() {
      child.kill('SIGSTOP');
      // One thread must receive the signal before all stop, and others may answer until then.
      const isStill = async () => / T /.test(await readFile(`/proc/${child.pid}/stat`, 'utf8'));
      await until('slapd to stand still', isStill);
    },
    resume: () => void child.kill('SIGCONT'),
    async stop() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Creates an authority for this test, and a certificate from it for this machine. */
function makeCertificate(folder: string): void {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  for (const name of ['authority', 'other']) {
    const files = ['-keyout', `${name}.key`, '-out', `${name}.pem`];
    openssl('req', '-x509', ...key, ...files, '-subj', '/CN=Test authority');
  }
  openssl(
    ...['req', '-x509', ...key, '-keyout', 'server.key', '-out', 'server.pem', '-subj', '/CN=localhost'],
    ...['-CA', 'authority.pem', '-CAkey', 'authority.key'],
    ...['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
  );
}
