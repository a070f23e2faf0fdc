import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../../../test/support/fake-clock.ts";
import { createCoalescer } from "./coalescer.ts";

/**
 * A coalescer of letters. Lowercase letters can wait and are merged; uppercase letters cannot wait. A digit has
 * infinite weight.
 */
function letters(deliver?: (items: readonly string[]) => Promise<void>, milliseconds = 16) {
  const clock = createFakeClock();
  const delivered: (readonly string[])[] = [];
  const isLower = (text: string): boolean => text === text.toLowerCase();
  const coalescer = createCoalescer<string>({
    timer: clock,
    milliseconds,
    merge: (before, item) => (isLower(before) && isLower(item) ? before + item : undefined),
    async deliver(items) {
      delivered.push(items);
      await deliver?.(items);
    },
  });
  const gathered = {
    ...coalescer,
    add: (item: string) =>
      coalescer.add(item, {
        canWait: isLower(item),
        weight: /\d/.test(item) ? Infinity : item.length,
      }),
  };
  return { clock, delivered, gathered };
}

function gate(): { readonly open: () => void; readonly opened: Promise<void> } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("Coalescer", () => {
  it("The first item is delivered at once, and later items together after the delay", async () => {
    const { clock, delivered, gathered } = letters();
    for (const letter of "abcd") await gathered.add(letter);
    expect(delivered).toEqual([["a"]]);
    clock.advance(16);
    await settled();
    expect(delivered).toEqual([["a"], ["bcd"]]);
  });

  it("An urgent item is delivered together with the waiting items, and the next item at once", async () => {
    const { delivered, gathered } = letters();
    for (const letter of "abcX") await gathered.add(letter);
    await settled();
    for (const letter of "de") await gathered.add(letter);
    expect(delivered).toEqual([["a"], ["bc", "X"], ["d"]]);
    await gathered.flush();
    expect(delivered.at(-1)).toEqual(["e"]);
  });

  it("Batches are delivered one at a time, and items added meanwhile form the next batch", async () => {
    const { open, opened } = gate();
    const { delivered, gathered } = letters(() => opened);
    for (const letter of "ABcdE") await gathered.add(letter);
    await settled();
    expect(delivered).toEqual([["A"]]);
    open();
    await gathered.flush();
    expect(delivered).toEqual([["A"], ["B", "cd", "E"]]);
  });

  it("Items that can wait are held for the full delay, even if the previous delivery is finished", async () => {
    const { open, opened } = gate();
    const { clock, delivered, gathered } = letters(() => opened);
    for (const letter of "abc") await gathered.add(letter);
    open();
    await settled();
    expect(delivered).toEqual([["a"]]);
    clock.advance(16);
    await settled();
    expect(delivered).toEqual([["a"], ["bc"]]);
  });

  it.each([
    ["many", Array.from({ length: 256 }, () => "B")],
    ["heavy", ["1"]],
    ["long", ["b".repeat(1 << 20)]],
  ])("add waits while the next batch is full: %s", async (_, items) => {
    const { open, opened } = gate();
    const { gathered } = letters(() => opened);
    await gathered.add("A");
    let added = 0;
    const adding = (async () => {
      for (const item of items) {
        await gathered.add(item);
        added += 1;
      }
    })();
    await settled();
    expect(added).toBe(items.length - 1);
    open();
    await adding;
  });

  it("After a failed delivery no further batch is delivered", async () => {
    const { delivered, gathered } = letters(() => Promise.reject(new Error("full")));
    await gathered.add("A");
    await settled();
    await expect(gathered.add("B")).rejects.toThrow("full");
    await expect(gathered.flush()).rejects.toThrow("full");
    expect(delivered).toEqual([["A"]]);
  });

  it("A stopped coalescer delivers no further batch and waits for the running delivery", async () => {
    const { open, opened } = gate();
    const { clock, delivered, gathered } = letters(() => opened);
    for (const letter of "ABc") await gathered.add(letter);
    const stopped = gathered.stop().then(() => "stopped");
    expect(await Promise.race([stopped, settled()])).toBeUndefined();
    open();
    await stopped;
    expect(delivered).toEqual([["A"]]);
    expect(clock.pending).toBe(0);
  });

  it("With a delay of 0 every item is delivered alone", async () => {
    const { delivered, gathered } = letters(undefined, 0);
    for (const letter of "abC") await gathered.add(letter);
    expect(delivered).toEqual([["a"], ["b"], ["C"]]);
  });

  it("A flushed coalescer leaves no timer behind", async () => {
    const { clock, gathered } = letters();
    await gathered.add("a");
    await gathered.flush();
    expect(clock.pending).toBe(0);
  });
});
