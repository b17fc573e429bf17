import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'ldapts';
import { until } from '../support/poll.ts';
import { freePort } from '../support/process.ts';

/** Where Debian's package has it, which is on the path of root alone. */
const SLAPD = '/usr/sbin/slapd';

/** Why tests with a directory are skipped here, if they are. In CI nothing is skipped: they fail. */
export const withoutSlapd = spawnSync(SLAPD, ['-VV']).error !== undefined && process.env.CI !== 'true';

export const BASE = 'dc=example,dc=com';
const ROOT = { dn: `cn=root,${BASE}`, password: 'the root of the tree' };
const APP = { dn: `cn=search,${BASE}`, password: 'may only search' };

export interface Slapd {
  port: number;
  tlsPort: number;
  /** The certificate that its own is signed with. */
  authority: string;
  /** The certificate of somebody else who calls themselves the same. */
  otherAuthority: string;
  /** What `startServer` needs in its environment, for a connection in the clear. */
  env: Record<string, string>;
  /** Adds somebody, with any number of values of an attribute. */
  add(uid: string, attributes?: Record<string, string | string[]>): Promise<void>;
  /** Makes a group of people. */
  group(name: string, uids: string[]): Promise<void>;
  /** Works on the tree as its owner. */
  asRoot(work: (client: Client) => Promise<void>): Promise<void>;
  /** Keeps its connections and answers nothing from the return on, until `resume`. */
  hang(): Promise<void>;
  resume(): void;
  stop(): Promise<void>;
}

export const dnOf = (uid: string): string => `uid=${uid},ou=people,${BASE}`;
export const PASSWORD = 'right password';

/**
 * OpenLDAP with an empty tree, on free ports of this machine. It takes a bind with a name and no password for an anonymous one,
 * as directories in the field do.
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
      // One of its threads has to get the signal before all stand still, and others may answer until then.
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

/** An authority of this test's own, and a certificate of it for this machine. */
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
