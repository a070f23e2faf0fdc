import { describe, expect, it } from "vitest";
import { fakeClock } from "../../test/support/fake-clock.ts";
import { coalescer } from "./coalescer.ts";

/** Lower case can wait and is joined; upper case cannot. */
function letters(deliver?: (items: readonly string[]) => Promise<void>) {
  const clock = fakeClock();
  const delivered: (readonly string[])[] = [];
  const isLower = (text: string): boolean => text === text.toLowerCase();
  const gathered = coalescer<string>({
    timer: clock,
    milliseconds: 16,
    canWait: isLower,
    join: (before, item) => (isLower(before) && isLower(item) ? before + item : undefined),
    async deliver(items) {
      delivered.push(items);
      await deliver?.(items);
    },
  });
  return { clock, delivered, gathered };
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
    for (const letter of "abcXde") await gathered.add(letter);
    expect(delivered).toEqual([["a"], ["bc", "X"], ["d"]]);
    await gathered.flush();
    expect(delivered.at(-1)).toEqual(["e"]);
  });

  it("hands on one batch at a time, and lets whoever adds wait for it", async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { delivered, gathered } = letters(() => held);
    const added = gathered.add("A").then(() => "added");
    void gathered.add("B");
    await settled();
    expect(delivered).toEqual([["A"]]);
    release();
    expect(await added).toBe("added");
    await gathered.flush();
    expect(delivered).toEqual([["A"], ["B"]]);
  });

  it("hands on nothing behind a batch that could not be handed on", async () => {
    const { delivered, gathered } = letters(() => Promise.reject(new Error("full")));
    await expect(gathered.add("A")).rejects.toThrow("full");
    await expect(gathered.add("B")).rejects.toThrow("full");
    await expect(gathered.flush()).rejects.toThrow("full");
    expect(delivered).toEqual([["A"]]);
  });

  it("leaves no timer behind", async () => {
    const { clock, gathered } = letters();
    await gathered.add("a");
    await gathered.flush();
    expect(clock.pending).toBe(0);
  });
});
