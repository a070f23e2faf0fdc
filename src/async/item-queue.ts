/** An unbounded queue between a producer that does not wait and a single reader. */
export interface ItemQueue<Item extends object | string | number> extends AsyncIterable<Item> {
  /** Adds an item. False if the queue has ended: the item is dropped. */
  push(item: Item): boolean;
  /** Ends the queue. The reader receives the remaining items first, then the end or the error. */
  end(error?: unknown): void;
}

/** `onReaderLeft` is called if the reader stops before the end. */
export function createItemQueue<Item extends object | string | number>(
  onReaderLeft: () => void = () => {},
): ItemQueue<Item> {
  let items: Item[] = [];
  let readIndex = 0;
  let ending: { readonly error?: unknown } | undefined;
  let wake: (() => void) | undefined;

  /** Frees items already read, even if the reader never catches up. */
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
