import { describe, expect, it } from "vitest";
import { ReadQueue } from "./read-queue.ts";

const never = new AbortController().signal;
const nextTurnOfTheLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Readers that say their name when they may read. */
function readers(queue: ReadQueue, names: string, signal = never): { said: string } {
  const heard = { said: "" };
  for (const name of names) void queue.wait(signal).then(() => (heard.said += name));
  return heard;
}

describe("the queue of readers", () => {
  it("lets one read in each turn of the loop, in the order in which they came", async () => {
    const heard = readers(new ReadQueue(), "abcd");
    const seen: string[] = [];
    while (heard.said.length < 4) {
      await nextTurnOfTheLoop();
      seen.push(heard.said);
    }
    expect(seen).toEqual(["ab", "abc", "abcd"]);
  });

  it("lets one that is alone read at once", async () => {
    const queue = new ReadQueue();
    for (const name of "ab") {
      const heard = readers(queue, name);
      await Promise.resolve();
      expect(heard.said).toBe(name);
      await nextTurnOfTheLoop();
    }
  });

  it("lets those who read little share a turn, until together they have read what one may", async () => {
    const queue = new ReadQueue();
    let said = "";
    const read = async (name: string, part: number): Promise<void> => {
      await queue.wait();
      said += name;
      queue.finishRead(part);
    };
    const parts = { a: 0.3, b: 0.3, c: 0.6, d: 1, e: 0.5, f: 0.1 };
    const reading = Object.entries(parts).map(([name, part]) => read(name, part));
    const seen: string[] = [];
    while (said.length < 6) {
      await nextTurnOfTheLoop();
      seen.push(said);
    }
    expect(seen).toEqual(["abcd", "abcdef"]);
    await Promise.all(reading);
  });

  it("does not wait for those who left", async () => {
    const queue = new ReadQueue();
    const left = new AbortController();
    readers(queue, "a");
    const gone = readers(queue, "bcd", left.signal);
    const heard = readers(queue, "e");
    left.abort();
    await Promise.resolve();
    expect(gone.said).toBe("bcd");
    expect(heard.said).toBe("");
    await nextTurnOfTheLoop();
    expect(heard.said).toBe("e");
    const late = readers(queue, "f", left.signal);
    await Promise.resolve();
    expect(late.said).toBe("f");
  });
});
