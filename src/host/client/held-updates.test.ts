import { describe, expect, it } from "vitest";
import { createHeldUpdates } from "./held-updates.ts";

function released(told: readonly (readonly [text: string, cursor?: string])[]): string[] {
  const held = createHeldUpdates();
  held.hold("s");
  for (const [title, cursor] of told) {
    const update = { type: "info", title } as const;
    const passed = held.keep({ sessionId: "s", update, ...(cursor !== undefined && { cursor }) });
    expect(passed).toEqual([]);
  }
  return held
    .release("s")
    .map(({ update }) => (update.type === "info" ? (update.title ?? "") : ""));
}

describe("updates that are held while a session is taken up from a place", () => {
  it("come out once each, in the order in which they are told from there", () => {
    const before = [["a", "1"] as const, ["c", "3"] as const];
    const again = [["a", "1"] as const, ["b", "2"] as const, ["c", "3"] as const];
    expect(released([...before, ...again, ["d", "4"]])).toEqual(["a", "b", "c", "d"]);
    expect(released(before)).toEqual(["a", "c"]);
  });

  it("come out all where they have no place, beside those that are told again", () => {
    const told = [["a", "1"] as const, ["list"] as const, ["a", "1"] as const, ["b", "2"] as const];
    expect(released(told)).toEqual(["list", "a", "b"]);
  });

  it("are not held any more, nor those of other sessions", () => {
    const held = createHeldUpdates();
    const told = { sessionId: "s", update: { type: "info", title: "a" } } as const;
    held.hold("other");
    expect(held.keep(told)).toEqual([told]);
    held.hold("s");
    held.release("s");
    expect(held.keep(told)).toEqual([told]);
  });

  it("are kept until the last who holds them has what comes from the place on", () => {
    const held = createHeldUpdates();
    const told = (cursor: string) =>
      ({ sessionId: "s", update: { type: "info", title: cursor }, cursor }) as const;
    held.hold("s");
    held.keep(told("1"));
    held.hold("s");
    for (const cursor of ["1", "2", "1", "2", "3"]) held.keep(told(cursor));
    expect(held.release("s")).toEqual([]);
    expect(held.keep(told("4"))).toEqual([]);
    expect(held.release("s")).toEqual(["1", "2", "3", "4"].map(told));
    expect(held.keep(told("5"))).toEqual([told("5")]);
  });

  it("come out at once, and are not held again, where the session is not told from there", () => {
    const held = createHeldUpdates();
    const told = { sessionId: "s", update: { type: "info", title: "a" } } as const;
    held.hold("s");
    held.hold("s");
    held.keep(told);
    expect(held.letGo("s")).toEqual([told]);
    held.release("s");
    expect(held.keep(told)).toEqual([told]);
    expect(held.release("s")).toEqual([]);
  });

  it("are passed on where an agent says too much before it answers, and none is lost", () => {
    const held = createHeldUpdates();
    held.hold("s");
    const title = "x".repeat(8 * 1024 * 1024);
    const told = { sessionId: "s", update: { type: "info", title } } as const;
    const passed = Array.from({ length: 10 }, () => held.keep(told).length);
    expect(passed).toEqual([0, 0, 0, 0, 0, 0, 0, 8, 1, 1]);
    expect(held.release("s")).toEqual([]);
  });
});
