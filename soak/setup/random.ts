/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
export type Random = () => number;

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One of the items. @throws Error for an empty list */
export function pick<Item>(items: readonly Item[], random: Random): Item {
  if (items.length === 0) throw new Error('There is nothing to pick from.');
  return items[Math.floor(random() * items.length)] as Item;
}

/** The items in another order. */
export function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
