/** The npm package holds JavaScript, and a checkout the sources. */
export const IS_PACKAGE = import.meta.url.endsWith('.js');

/** How people call the commands. */
export const COMMAND = IS_PACKAGE ? 'parley' : 'npm run parley --';
