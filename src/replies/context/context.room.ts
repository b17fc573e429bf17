const MIB = 1024 ** 2;
/** Of the images that the replies of this process hold at a time, and of those that one person called. */
const MOST = { ofAll: 64 * MIB, ofOne: 32 * MIB };

const held = new Map<string, number>();
let ofAll = 0;

/** The room for the images of one reply, which are held until it ends. */
export class ImageRoom {
  readonly #person: string;
  #bytes = 0;
  #isReleased = false;

  constructor(person: string) {
    this.#person = person;
  }

  /** @returns whether there was room; false after the release: a stopped reply may still read an image */
  take(bytes: number): boolean {
    if (this.#isReleased) return false;
    const ofOne = held.get(this.#person) ?? 0;
    if (ofAll + bytes > MOST.ofAll || ofOne + bytes > MOST.ofOne) return false;
    this.#add(bytes);
    return true;
  }

  release(): void {
    this.#isReleased = true;
    this.#add(-this.#bytes);
  }

  #add(bytes: number): void {
    this.#bytes += bytes;
    ofAll += bytes;
    const ofOne = (held.get(this.#person) ?? 0) + bytes;
    if (ofOne > 0) held.set(this.#person, ofOne);
    else held.delete(this.#person);
  }
}
