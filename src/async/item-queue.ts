/** Items from somebody who does not wait, for one reader who does. */
export interface ItemQueue<Item extends object | string | number> extends AsyncIterable<Item> {
  /** False when it has ended: the item is nobody's. */
  push(item: Item): boolean;
  /** What is in it is still read; then it ends, with the error if there is one. */
  end(error?: unknown): void;
}

/** `left` is called when the reader goes before the end. */
export function createItemQueue<Item extends object | string | number>(
  onReaderLeft: () => void = () => {},
): ItemQueue<Item> {
  let items: Item[] = [];
  let readIndex = 0;
  let ending: { readonly error?: unknown } | undefined;
  let wake: (() => void) | undefined;

  /** What was read is not held, also when the reader never quite catches up. */
  function drop(): void {
    if (readIndex < 1024 || readIndex * 2 < items.length) return;
    items = items.slice(readIndex);
    readIndex = 0;
  }

  async function* iterate(): AsyncGenerator<Item, void, undefined> {
    try {
      for (;;) {
        const item = items[readIndex];
        if (item !== undefined) {
          readIndex += 1;
          drop();
          yield item;
        } else if (ending !== undefined) {
          if ("error" in ending) throw ending.error;
          return;
        } else {
          items = [];
          readIndex = 0;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      if (ending === undefined) onReaderLeft();
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
