import { describe, expect, it } from "vitest";
import { ReadingTurns } from "./reading-turns.ts";

const never = new AbortController().signal;
const nextTurnOfTheLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Readers that say their name when it is their turn. */
function readers(turns: ReadingTurns, names: string, signal = never): { said: string } {
  const heard = { said: "" };
  for (const name of names) void turns.next(signal).then(() => (heard.said += name));
  return heard;
}

describe("the turns of readers", () => {
  it("are one in each turn of the loop, in the order in which they came", async () => {
    const heard = readers(new ReadingTurns(), "abcd");
    const seen: string[] = [];
    while (heard.said.length < 4) {
      await nextTurnOfTheLoop();
      seen.push(heard.said);
    }
    expect(seen).toEqual(["ab", "abc", "abcd"]);
  });

  it("are had at once by one that is alone", async () => {
    const turns = new ReadingTurns();
    for (const name of "ab") {
      const heard = readers(turns, name);
      await Promise.resolve();
      expect(heard.said).toBe(name);
      await nextTurnOfTheLoop();
    }
  });

  it("are not waited for by those who left", async () => {
    const turns = new ReadingTurns();
    const left = new AbortController();
    readers(turns, "a");
    const gone = readers(turns, "bcd", left.signal);
    const heard = readers(turns, "e");
    left.abort();
    await Promise.resolve();
    expect(gone.said).toBe("bcd");
    expect(heard.said).toBe("");
    await nextTurnOfTheLoop();
    expect(heard.said).toBe("e");
    const late = readers(turns, "f", left.signal);
    await Promise.resolve();
    expect(late.said).toBe("f");
  });
});
