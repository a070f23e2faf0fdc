/**
 * An immutable list in chunks: adding or removing an item copies one chunk and not the whole list, so a long queue costs
 * the same per item as a short one. Plain data, as JSON.
 */
export type ChunkedList<Item> = readonly (readonly Item[])[];

/** Items. Larger chunks cost more per change, smaller ones make the list of chunks longer. */
const CHUNK_LENGTH = 128;

export function createChunkedList<Item>(items: readonly Item[]): ChunkedList<Item> {
  return items.reduce<ChunkedList<Item>>(appendItem, []);
}

export function appendItem<Item>(list: ChunkedList<Item>, item: Item): ChunkedList<Item> {
  const last = list.at(-1);
  if (last === undefined || last.length >= CHUNK_LENGTH) return [...list, [item]];
  return list.with(list.length - 1, [...last, item]);
}

/** Removes the first matching item. Returns the same list if no item matches. */
export function removeItem<Item>(
  list: ChunkedList<Item>,
  isItem: (item: Item) => boolean,
): ChunkedList<Item> {
  for (const [at, chunk] of list.entries()) {
    const index = chunk.findIndex(isItem);
    if (index < 0) continue;
    return chunk.length === 1 ? list.toSpliced(at, 1) : list.with(at, chunk.toSpliced(index, 1));
  }
  return list;
}

/** Replaces every item. */
export function mapItems<Item>(
  list: ChunkedList<Item>,
  map: (item: Item) => Item,
): ChunkedList<Item> {
  return list.map((chunk) => chunk.map(map));
}

export function findItem<Item, Found extends Item>(
  list: ChunkedList<Item>,
  isItem: (item: Item) => item is Found,
): Found | undefined;
export function findItem<Item>(
  list: ChunkedList<Item>,
  isItem: (item: Item) => boolean,
): Item | undefined;
export function findItem<Item>(
  list: ChunkedList<Item>,
  isItem: (item: Item) => boolean,
): Item | undefined {
  for (const chunk of list) {
    const found = chunk.find(isItem);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function countItems(list: ChunkedList<unknown>): number {
  return list.reduce((sum, chunk) => sum + chunk.length, 0);
}

export function listItems<Item>(list: ChunkedList<Item>): readonly Item[] {
  return list.flat(1);
}
