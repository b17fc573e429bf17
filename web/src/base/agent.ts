const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;
const SYSTEMS = ['Windows', 'Android', 'iPhone', 'iPad', 'Mac OS', 'Linux'];

/** `Firefox, Linux`, as far as the text of a browser tells; other programs as they call themselves. */
export function describeAgent(agent: string): string {
  const browser = BROWSERS.find(([mark]) => agent.includes(mark))?.[1];
  const system = SYSTEMS.find((name) => agent.includes(name));
  return browser ? [browser, system].filter(Boolean).join(', ') : agent.slice(0, 80);
}
