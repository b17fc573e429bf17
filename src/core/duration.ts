const UNIT_MS: Record<string, number> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/**
 * A configured duration in milliseconds: numbers with units that are added (`4w`, `1d12h`), or null for `-1`
 * and `0`, which mean "for ever". The configuration's schema admits no other text.
 */
export function parseDuration(text: string): number | null {
  if (text === '-1' || text === '0') return null;
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d|w)/g);
  return [...parts].reduce((sum, [, number, unit]) => sum + Number(number) * (UNIT_MS[unit ?? ''] ?? 0), 0);
}
