import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';

/** The look of the page in one file. An installation sets its name, logo and accent colour by configuration. */

/** The accent colour where the configuration has none. */
const ACCENT = '#3b5bdb';
const RED = '#d02f36';
const GREEN = '#258a3f';
/** How much of each of the ten shades is white, the accent, or black. */
const SHADES = [0.92, 0.84, 0.7, 0.52, 0.34, 0.16, 0, -0.12, -0.26, -0.4];

const FONT =
  'Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", "Helvetica Neue", Arial, sans-serif';
const MONOSPACE = 'ui-monospace, "SF Mono", "Cascadia Code", "Roboto Mono", "DejaVu Sans Mono", monospace';

/**
 * @param accent `#rrggbb`
 * @param closeLabel the name of the buttons that close overlays, for screen readers
 */
export const themeOf = (accent: string | undefined, closeLabel: string) =>
  createTheme({
    // Those of Mantine are too light for words.
    colors: { accent: shadesOf(accent ?? ACCENT), red: shadesOf(RED), green: shadesOf(GREEN) },
    primaryColor: 'accent',
    primaryShade: 6,
    autoContrast: true,
    fontFamily: FONT,
    fontFamilyMonospace: MONOSPACE,
    defaultRadius: 'sm',
    // An 8-pixel grid.
    spacing: { xs: '8px', sm: '12px', md: '16px', lg: '24px', xl: '32px' },
    radius: { xs: '3px', sm: '6px', md: '8px', lg: '12px', xl: '16px' },
    fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '20px' },
    headings: {
      fontWeight: '600',
      sizes: {
        h1: { fontSize: '24px', lineHeight: '1.3' },
        h2: { fontSize: '20px', lineHeight: '1.35' },
        h3: { fontSize: '17px', lineHeight: '1.4' },
        h4: { fontSize: '16px', lineHeight: '1.4' },
        h5: { fontSize: '15px', lineHeight: '1.4' },
      },
    },
    respectReducedMotion: true,
    cursorType: 'pointer',
    components: {
      Modal: {
        defaultProps: { transitionProps: { duration: 120 }, closeButtonProps: { 'aria-label': closeLabel } },
      },
      Drawer: {
        defaultProps: { transitionProps: { duration: 120 }, closeButtonProps: { 'aria-label': closeLabel } },
      },
      Notification: { defaultProps: { closeButtonProps: { 'aria-label': closeLabel } } },
      Tooltip: { defaultProps: { openDelay: 400, transitionProps: { duration: 80 } } },
      Menu: { defaultProps: { transitionProps: { duration: 80 } } },
      // The keyboard scrolls a wide table on a narrow screen.
      TableScrollContainer: { defaultProps: { scrollAreaProps: { viewportProps: { tabIndex: 0 } } } },
    },
  });

/** Neutral surfaces and lines, for our own styles. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: { '--head-height': '48px', '--sidebar-width': '248px' },
  light: {
    '--line': '#e3e5e8',
    '--surface': '#ffffff',
    '--surface-side': '#f6f7f9',
    '--surface-hover': '#f1f3f5',
    '--text-quiet': '#5c6370',
    '--mantine-color-dimmed': '#5c6370',
    '--mantine-color-placeholder': '#6b7280',
    // Mentions, the line above unread messages, failures, and the tokens of code.
    '--mention': 'var(--mantine-color-accent-8)',
    '--unread': 'var(--mantine-color-red-9)',
    '--mention-surface': 'var(--mantine-color-accent-0)',
    '--mention-own': '#5f3c00',
    '--mention-own-surface': '#ffedc2',
    '--failed': '#b42318',
    '--code-foreground': '#24292f',
    '--code-token-comment': '#5c6370',
    '--code-token-keyword': '#a40e26',
    '--code-token-string': '#0b5a2b',
    '--code-token-string-expression': '#0b5a2b',
    '--code-token-constant': '#0550ae',
    '--code-token-parameter': '#24292f',
    '--code-token-function': '#6639ba',
    '--code-token-punctuation': '#4b5362',
    '--code-token-link': '#0550ae',
    '--code-token-inserted': '#0b5a2b',
    '--code-token-deleted': '#a40e26',
    '--code-token-changed': '#7a4a00',
  },
  dark: {
    '--line': '#2f3238',
    '--surface': '#191a1d',
    '--surface-side': '#141518',
    '--surface-hover': '#222428',
    '--text-quiet': '#a3a9b3',
    '--mantine-color-body': '#191a1d',
    '--mantine-color-dimmed': '#a3a9b3',
    '--mantine-color-placeholder': '#8d94a0',
    '--mention': 'var(--mantine-color-accent-2)',
    '--unread': 'var(--mantine-color-red-4)',
    '--mention-surface': 'color-mix(in srgb, var(--mantine-color-accent-6) 24%, transparent)',
    '--mention-own': '#ffd591',
    '--mention-own-surface': '#4a3610',
    '--failed': '#ff9a92',
    '--code-foreground': '#d7dbe0',
    '--code-token-comment': '#9aa2ad',
    '--code-token-keyword': '#ff8f87',
    '--code-token-string': '#a5d6a7',
    '--code-token-string-expression': '#a5d6a7',
    '--code-token-constant': '#84c1ff',
    '--code-token-parameter': '#d7dbe0',
    '--code-token-function': '#d2b3ff',
    '--code-token-punctuation': '#b5bcc6',
    '--code-token-link': '#84c1ff',
    '--code-token-inserted': '#a5d6a7',
    '--code-token-deleted': '#ff8f87',
    '--code-token-changed': '#ffb86b',
  },
});

/** Ten shades from light to dark, around the accent. */
function shadesOf(accent: string): MantineColorsTuple {
  const parts = [1, 3, 5].map((start) => Number.parseInt(accent.slice(start, start + 2), 16));
  const shade = (share: number) => {
    const target = share > 0 ? 255 : 0;
    const mixed = parts.map((part) => Math.round(part + (target - part) * Math.abs(share)));
    return `#${mixed.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
  };
  return SHADES.map(shade) as unknown as MantineColorsTuple;
}
