import { execFileSync, spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import project from '../../package.json' with { type: 'json' };
import { readMetrics } from '../support/metrics.ts';
import { startServer } from '../support/server.ts';

const ROOT = join(import.meta.dirname, '../..');
const DEPLOY = join(ROOT, 'deploy');
const read = (name: string) => readFile(join(DEPLOY, name), 'utf8');
const withoutHelm = spawnSync('helm', ['version']).status !== 0;

const METRICS_TOKEN = 'a-token-that-reads-the-metrics-of-tests';
const server = await startServer({ env: { METRICS_TOKEN } });
afterAll(() => server.close());

/** The variables that the server knows, which ignores all others. */
const known = (await readFile(join(ROOT, 'src/env.ts'), 'utf8')).matchAll(/^ {2}([A-Z][A-Z0-9_]+):/gm);
const variables = [...known].map(([, name]) => name);

const namesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name);

it('the files name only variables of the server', async () => {
  const compose = parse(await read('compose.yaml'), { merge: true });
  const values = parse(await read('helm/values.yaml'));
  const units = [await read('systemd/parley.service'), await read('systemd/parley@.service')].join('\n');
  const named = [
    ...Object.keys(compose.services['parley-1'].environment),
    ...Object.keys(values.env),
    ...namesIn(await read('Dockerfile'), /(?:^ENV | )([A-Z_]+)=(?=.*)/gm),
    ...namesIn(units, /^Environment=.*?([A-Z_]+)=/gm),
  ];
  expect(named).toEqual(expect.arrayContaining(['DATABASE_URL', 'DATA_DIR', 'TRUSTED_PROXIES']));
  expect(named.filter((name) => !variables.includes(name ?? ''))).toEqual([]);
});

it('the number of pods follows a metric of the server', async () => {
  const names = namesIn(await read('helm/templates/autoscaler.yaml'), /metric: \{ name: (\w+) \}/g);
  const { body } = await metrics();
  const { samples } = readMetrics(body);
  expect(names).toHaveLength(1);
  for (const name of names) expect(samples.map((sample) => sample.name)).toContain(name);
});

async function metrics() {
  const answer = await fetch(`${server.url}/metrics`, {
    headers: { authorization: `Bearer ${METRICS_TOKEN}` },
  });
  return { body: await answer.text() };
}

it('the dashboard and the alerts name metrics of the server, and each alert is explained', async () => {
  const dashboard = JSON.parse(await read('watch/dashboard.json'));
  const { groups } = parse(await read('watch/alerts.yaml'));
  const rules: { alert: string; expr: string }[] = groups.flatMap(({ rules }: { rules: object[] }) => rules);
  const asked: string[] = [
    ...dashboard.panels.flatMap(({ targets }: { targets: { expr: string }[] }) =>
      targets.map(({ expr }) => expr),
    ),
    ...rules.map(({ expr }) => expr),
  ];
  const text = (await metrics()).body;
  const described = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', kind]) =>
    kind === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
  );
  const names = asked.flatMap((expr) => expr.match(/\b(?:parley|nodejs|process)_\w+/g) ?? []);
  expect(names.length).toBeGreaterThan(20);
  expect([...new Set(names)].filter((name) => !described.includes(name))).toEqual([]);
  const operations = await readFile(join(ROOT, 'docs/operations.md'), 'utf8');
  const explained = namesIn(operations, /^\| `(Parley\w+)` \|/gm);
  expect(explained.toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
});

it('the proxies check an address of the server', async () => {
  const { http } = parse(await read('proxies/traefik.yaml'));
  const { path } = http.services.parley.loadBalancer.healthCheck;
  expect(await read('proxies/Caddyfile')).toContain(`health_uri ${path}\n`);
  expect((await fetch(server.url + path)).status).not.toBe(404);
});

it('the chart has the version of the server', async () => {
  const { version, appVersion } = parse(await read('helm/Chart.yaml'));
  expect([version, appVersion]).toEqual([project.version, project.version]);
});

describe.skipIf(withoutHelm)('the chart (needs helm)', () => {
  const helm = (...args: string[]) =>
    execFileSync('helm', [...args, '--kube-version=1.33.0'], { cwd: join(DEPLOY, 'helm'), encoding: 'utf8' });

  it('has no fault that helm finds', () => {
    expect(helm('lint', '.', '--strict')).toContain('0 chart(s) failed');
  });

  it('makes no claim where uploads are in a bucket', () => {
    const text = helm('template', 'parley', '.', '--set=uploads.bucket=s3://parley');
    expect(text).toContain('value: "s3://parley"');
    expect(text).not.toMatch(/PersistentVolumeClaim|mountPath: \/data\/uploads/);
  });

  it('renders what a rolling update needs, and pods without rights', () => {
    const text = helm('template', 'parley', '.', '--set=ingress.enabled=true,podMonitor.enabled=true');
    const documents = parseAllDocuments(text).map((document) => document.toJS());
    expect(documents.map(({ kind }) => kind).sort()).toEqual([
      'Deployment',
      'HorizontalPodAutoscaler',
      'Ingress',
      'Job',
      'NetworkPolicy',
      'PersistentVolumeClaim',
      'PodDisruptionBudget',
      'PodMonitor',
      'Service',
    ]);
    for (const { spec } of documents.filter(({ kind }) => ['Deployment', 'Job'].includes(kind))) {
      const pod = spec.template.spec;
      expect(pod.securityContext.runAsNonRoot).toBe(true);
      expect(pod.containers[0].securityContext).toMatchObject({
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
      });
    }
  });
});
