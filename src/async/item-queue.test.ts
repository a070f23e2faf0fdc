import { describe, expect, it } from "vitest";
import { createItemQueue } from "./item-queue.ts";

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const read: Item[] = [];
  for await (const item of items) read.push(item);
  return read;
}

describe("Item queue", () => {
  it("Items are read in order, whether they were added before or during the read", async () => {
    const queue = createItemQueue<number>();
    for (let item = 0; item < 5000; item += 1) queue.push(item);
    const read = all(queue);
    await Promise.resolve();
    for (let item = 5000; item < 6000; item += 1) queue.push(item);
    queue.end();
    expect(await read).toEqual(Array.from({ length: 6000 }, (_, item) => item));
  });

  it("A queue that ends with an error returns its items first and accepts no further item", async () => {
    const queue = createItemQueue<string>();
    queue.push("a");
    queue.end(new Error("lost"));
    expect(queue.push("b")).toBe(false);
    queue.end();
    const read: string[] = [];
    const reading = (async () => {
      for await (const item of queue) read.push(item);
    })();
    await expect(reading).rejects.toThrow("lost");
    expect(read).toEqual(["a"]);
  });

  it("onReaderLeft is called when the reader stops early, and the queue accepts no further item", async () => {
    let isLeft = false;
    const queue = createItemQueue<number>(() => (isLeft = true));
    queue.push(1);
    queue.push(2);
    for await (const item of queue) if (item === 1) break;
    expect(isLeft).toBe(true);
    expect(queue.push(3)).toBe(false);
  });
});
