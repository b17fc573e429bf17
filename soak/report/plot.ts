import type { Point } from '../checks/trend.ts';

export interface Line {
  name: string;
  points: readonly Point[];
}

export interface Plot {
  title: string;
  unit: string;
  lines: readonly Line[];
  /** Times to shade, in seconds, with their names. */
  bands?: readonly { from: number; to: number; name: string }[];
  /** A horizontal line. */
  limit?: number;
}

const WIDTH = 960;
const HEIGHT = 280;
const EDGE = { left: 70, right: 20, top: 34, bottom: 34 };
const COLOURS = ['#1c7ed6', '#e8590c', '#2f9e44', '#ae3ec9', '#868e96'];
const TICKS = 4;

const escapeXml = (text: string) => text.replace(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`);
const short = (value: number) =>
  value >= 1000 ? `${(value / 1000).toPrecision(3)}k` : `${+value.toPrecision(3)}`;

/** A plot over time as a whole SVG document. */
export function drawPlot({ title, unit, lines, bands = [], limit }: Plot): string {
  const all = lines.flatMap(({ points }) => points);
  const maxX = Math.max(1, ...all.map(({ seconds }) => seconds));
  const maxY = Math.max(1e-9, limit ?? 0, ...all.map(({ value }) => value)) * 1.05;
  const x = (seconds: number) => EDGE.left + (seconds / maxX) * (WIDTH - EDGE.left - EDGE.right);
  const y = (value: number) => HEIGHT - EDGE.bottom - (value / maxY) * (HEIGHT - EDGE.top - EDGE.bottom);
  const ticks = Array.from({ length: TICKS + 1 }, (_, n) => n / TICKS);
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    `<text x="${EDGE.left}" y="20" font-size="14">${escapeXml(title)} (${escapeXml(unit)})</text>`,
    ...bands.map(
      ({ from, to, name }) =>
        `<rect x="${x(from).toFixed(1)}" y="${EDGE.top}" width="${Math.max(1, x(to) - x(from)).toFixed(1)}" height="${HEIGHT - EDGE.top - EDGE.bottom}" fill="#ffe3e3"><title>${escapeXml(name)}</title></rect>`,
    ),
    ...ticks.map(
      (share) =>
        `<line x1="${EDGE.left}" x2="${WIDTH - EDGE.right}" y1="${y(share * maxY)}" y2="${y(share * maxY)}" stroke="#dee2e6"/>` +
        `<text x="${EDGE.left - 6}" y="${y(share * maxY) + 4}" text-anchor="end">${short(share * maxY)}</text>` +
        `<text x="${x(share * maxX)}" y="${HEIGHT - 12}" text-anchor="middle">${short(share * maxX)} s</text>`,
    ),
    ...(limit === undefined
      ? []
      : [
          `<line x1="${EDGE.left}" x2="${WIDTH - EDGE.right}" y1="${y(limit)}" y2="${y(limit)}" stroke="#c92a2a" stroke-dasharray="6 4"/>`,
        ]),
    ...lines.map(({ points }, n) => {
      const path = points
        .map(({ seconds, value }) => `${x(seconds).toFixed(1)},${y(value).toFixed(1)}`)
        .join(' ');
      return `<polyline fill="none" stroke-width="1.5" stroke="${COLOURS[n % COLOURS.length]}" points="${path}"/>`;
    }),
    ...lines.map(
      ({ name }, n) =>
        `<text x="${WIDTH - EDGE.right}" y="${20 + n * 14}" text-anchor="end" fill="${COLOURS[n % COLOURS.length]}">${escapeXml(name)}</text>`,
    ),
    '</svg>',
  ];
  return `${parts.join('\n')}\n`;
}
