export type Density = 'compact' | 'comfortable';

const KEY = 'parley.density';

export const density = (): Density =>
  localStorage.getItem(KEY) === 'comfortable' ? 'comfortable' : 'compact';

export function setDensity(next: Density): void {
  localStorage.setItem(KEY, next);
  document.documentElement.dataset.density = next;
}

export const startDensity = (): void => {
  document.documentElement.dataset.density = density();
};
