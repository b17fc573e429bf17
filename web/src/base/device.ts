/** Whether the page is used by fingers alone, with a keyboard on the screen. */
export const isTouch = (): boolean => window.matchMedia('(hover: none) and (pointer: coarse)').matches;
