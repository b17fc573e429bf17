export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const SAMPLE =
  /^([a-zA-Z_:][\w:]*)(?:\{((?:\w+="(?:[^"\\]|\\.)*",?)*)\})? (-?[\d.]+(?:e[+-]?\d+)?|[+-]Inf|Nan)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;
const KINDS = ['counter', 'gauge', 'histogram', 'summary'];

/**
 * Parses the text format of Prometheus strictly: each line is a sample, a help or a type; no metric is
 * described twice; each sample follows its description; and no sample repeats.
 */
export function readMetrics(text: string) {
  const types = new Map<string, string>();
  const seen = new Set<string>();
  const samples: Sample[] = [];
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('# HELP ')) continue;
    const type = /^# TYPE (\S+) (\S+)$/.exec(line);
    if (type) {
      const [, name = '', kind = ''] = type;
      if (types.has(name) || !KINDS.includes(kind))
        throw new Error(`A type that is none, or is told twice: ${line}`);
      types.set(name, kind);
      continue;
    }
    const [, name, labels = '', value = ''] = SAMPLE.exec(line) ?? [];
    if (name === undefined) throw new Error(`Not a line of the format: ${line}`);
    const described = types.get(name) ?? types.get(name.replace(/_(bucket|sum|count)$/, ''));
    if (!described) throw new Error(`A sample of nothing that was described: ${line}`);
    const key = line.slice(0, line.lastIndexOf(' '));
    if (seen.has(key)) throw new Error(`A sample that comes twice: ${line}`);
    seen.add(key);
    samples.push({
      name,
      labels: Object.fromEntries([...labels.matchAll(LABEL)].map(([, label, of]) => [label, of])),
      value: Number(value),
    });
  }
  return {
    text,
    types,
    samples,
    /** The value of the sample with exactly these labels; 0 when there is none yet. */
    value(name: string, labels: Record<string, string> = {}): number {
      if (!types.has(name) && !types.has(name.replace(/_(bucket|sum|count)$/, '')))
        throw new Error(`There is no ${name}.`);
      const found = samples.find(
        (sample) =>
          sample.name === name &&
          Object.keys(sample.labels).length === Object.keys(labels).length &&
          Object.entries(labels).every(([label, of]) => sample.labels[label] === of),
      );
      return found?.value ?? 0;
    },
  };
}

/** The metrics of a server, read with a token that may read them. */
export async function scrape(url: string, token: string) {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`The metrics answered ${answer.status}: ${text}`);
  return readMetrics(text);
}
