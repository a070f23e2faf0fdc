/** Items from somebody who does not wait, for one reader who does. */
export interface ItemQueue<Item extends object | string | number> extends AsyncIterable<Item> {
  /** False when it has ended: the item is nobody's. */
  push(item: Item): boolean;
  /** What is in it is still read; then it ends, with the error if there is one. */
  end(error?: unknown): void;
}

/** `left` is called when the reader goes before the end. */
export function itemQueue<Item extends object | string | number>(
  left: () => void = () => {},
): ItemQueue<Item> {
  let items: Item[] = [];
  let at = 0;
  let ending: { readonly error?: unknown } | undefined;
  let wake: (() => void) | undefined;

  /** What was read is not held, also when the reader never quite catches up. */
  function drop(): void {
    if (at < 1024 || at * 2 < items.length) return;
    items = items.slice(at);
    at = 0;
  }

  async function* iterate(): AsyncGenerator<Item, void, undefined> {
    try {
      for (;;) {
        const item = items[at];
        if (item !== undefined) {
          at += 1;
          drop();
          yield item;
        } else if (ending !== undefined) {
          if ("error" in ending) throw ending.error;
          return;
        } else {
          items = [];
          at = 0;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      if (ending === undefined) left();
      ending ??= {};
    }
  }

  const iterator = iterate();
  return {
    [Symbol.asyncIterator]: () => iterator,
    push(item) {
      if (ending !== undefined) return false;
      items.push(item);
      wake?.();
      return true;
    },
    end(error) {
      ending ??= error === undefined ? {} : { error };
      wake?.();
    },
  };
}
