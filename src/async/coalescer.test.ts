import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../test/support/fake-clock.ts";
import { createCoalescer } from "./coalescer.ts";

/** Lower case can wait and is joined; upper case cannot. A digit is heavy. */
function letters(deliver?: (items: readonly string[]) => Promise<void>, milliseconds = 16) {
  const clock = createFakeClock();
  const delivered: (readonly string[])[] = [];
  const isLower = (text: string): boolean => text === text.toLowerCase();
  const gathered = createCoalescer<string>({
    timer: clock,
    milliseconds,
    canWait: isLower,
    merge: (before, item) => (isLower(before) && isLower(item) ? before + item : undefined),
    weigh: (item) => (/\d/.test(item) ? Infinity : item.length),
    async deliver(items) {
      delivered.push(items);
      await deliver?.(items);
    },
  });
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

describe("a coalescer", () => {
  it("hands on the first at once, and the others together when their time comes", async () => {
    const { clock, delivered, gathered } = letters();
    for (const letter of "abcd") await gathered.add(letter);
    expect(delivered).toEqual([["a"]]);
    clock.advance(16);
    await settled();
    expect(delivered).toEqual([["a"], ["bcd"]]);
  });

  it("hands on what waits together with what cannot, and then the next first at once", async () => {
    const { delivered, gathered } = letters();
    for (const letter of "abcX") await gathered.add(letter);
    await settled();
    for (const letter of "de") await gathered.add(letter);
    expect(delivered).toEqual([["a"], ["bc", "X"], ["d"]]);
    await gathered.flush();
    expect(delivered.at(-1)).toEqual(["e"]);
  });

  it("hands on one batch at a time, and what came meanwhile as the next", async () => {
    const { open, opened } = gate();
    const { delivered, gathered } = letters(() => opened);
    for (const letter of "ABcdE") await gathered.add(letter);
    await settled();
    expect(delivered).toEqual([["A"]]);
    open();
    await gathered.flush();
    expect(delivered).toEqual([["A"], ["B", "cd", "E"]]);
  });

  it("keeps what can wait for its time, though a batch before it is done", async () => {
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
  ])("lets whoever adds wait while the next batch is full: %s", async (_, items) => {
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

  it("hands on nothing behind a batch that could not be handed on", async () => {
    const { delivered, gathered } = letters(() => Promise.reject(new Error("full")));
    await gathered.add("A");
    await settled();
    await expect(gathered.add("B")).rejects.toThrow("full");
    await expect(gathered.flush()).rejects.toThrow("full");
    expect(delivered).toEqual([["A"]]);
  });

  it("hands on nothing more once it is stopped, and waits for what it had begun", async () => {
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

  it("hands on every item by itself when nothing is to wait", async () => {
    const { delivered, gathered } = letters(undefined, 0);
    for (const letter of "abC") await gathered.add(letter);
    expect(delivered).toEqual([["a"], ["b"], ["C"]]);
  });

  it("leaves no timer behind", async () => {
    const { clock, gathered } = letters();
    await gathered.add("a");
    await gathered.flush();
    expect(clock.pending).toBe(0);
  });
});
