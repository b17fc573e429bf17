/** A figure at a moment. */
export interface Point {
  seconds: number;
  value: number;
}

/** A straight line through the means of blocks, with the 95 % confidence interval of its slope. */
export interface Trend {
  /** Change an hour. */
  perHour: number;
  low: number;
  high: number;
  mean: number;
  /** The observed time is long enough, and the change is certain and larger than a tenth of the mean within it. */
  isGrowing: boolean;
}

/** Neighbouring values depend on each other (garbage collections), their means over a while hardly. */
const BLOCKS = 12;
/** The quantile of Student's t for 95 % on both sides, with `BLOCKS - 2` degrees of freedom. */
const STUDENT = 2.228;
const MATERIAL = 0.1;
/** A process grows in its first minutes: code is compiled and caches are filled. */
const LEAST_SECONDS = 900;

/** Fits a line to all points after the first third; null with too few of them. */
export function fitTrend(points: readonly Point[]): Trend | null {
  const last = points.at(-1)?.seconds ?? 0;
  const counted = points.filter(({ seconds }) => seconds >= last / 3);
  if (counted.length < 2 * BLOCKS) return null;
  const blocks = Array.from({ length: BLOCKS }, (_, n) => {
    const part = counted.slice((n * counted.length) / BLOCKS, ((n + 1) * counted.length) / BLOCKS);
    return { x: mean(part.map(({ seconds }) => seconds)), y: mean(part.map(({ value }) => value)) };
  });
  const [x, y] = [mean(blocks.map((block) => block.x)), mean(blocks.map((block) => block.y))];
  const spread = sum(blocks.map((block) => (block.x - x) ** 2));
  const slope = sum(blocks.map((block) => (block.x - x) * (block.y - y))) / spread;
  const errors = sum(blocks.map((block) => (block.y - y - slope * (block.x - x)) ** 2));
  const margin = STUDENT * Math.sqrt(errors / (BLOCKS - 2) / spread);
  const perHour = slope * 3_600;
  const observed = last - last / 3;
  return {
    perHour,
    low: perHour - margin * 3_600,
    high: perHour + margin * 3_600,
    mean: y,
    isGrowing: observed >= LEAST_SECONDS && slope - margin > 0 && slope * observed > MATERIAL * y,
  };
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
const mean = (values: number[]) => sum(values) / values.length;
