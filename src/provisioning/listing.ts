import type { Page } from "../wire/agentcore/control/control-response.ts";

export interface Listing<Item> {
  readonly items: readonly Item[];
  /**
   * Whether this is all there is. A service that gives the same cursor twice leads round in a circle, so that the rest
   * cannot be had, and what is missing here may exist all the same.
   */
  readonly isComplete: boolean;
}

/** All pages of a list, each item once, by what it is known by. */
export async function listAllPages<Item>(
  readPage: (cursor: string | null) => Promise<Page<Item>>,
  getId: (item: Item) => string,
): Promise<Listing<Item>> {
  const items = new Map<string, Item>();
  const cursors = new Set<string>();
  let cursor: string | null = null;
  for (;;) {
    const page: Page<Item> = await readPage(cursor);
    for (const item of page.items) {
      if (!items.has(getId(item))) items.set(getId(item), item);
    }
    cursor = page.nextCursor;
    const isRepeated = cursor !== null && cursors.has(cursor);
    if (cursor === null || isRepeated) {
      return { items: [...items.values()], isComplete: !isRepeated };
    }
    cursors.add(cursor);
  }
}
