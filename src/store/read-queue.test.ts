import { describe, expect, it } from "vitest";
import { ReadQueue } from "./read-queue.ts";

const never = new AbortController().signal;
const nextTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Starts one reader per letter. Each reader appends its letter to the log when the queue admits it. */
function readers(queue: ReadQueue, letters: string, signal = never): { names: string } {
  const admitted = { names: "" };
  for (const name of letters) void queue.wait(signal).then(() => (admitted.names += name));
  return admitted;
}

describe("Read queue", () => {
  it("Waiting readers are admitted one per tick, in order of arrival", async () => {
    const admitted = readers(new ReadQueue(), "abcd");
    const seen: string[] = [];
    while (admitted.names.length < 4) {
      await nextTick();
      seen.push(admitted.names);
    }
    expect(seen).toEqual(["ab", "abc", "abcd"]);
  });

  it("A reader without competitors is admitted at once", async () => {
    const queue = new ReadQueue();
    for (const name of "ab") {
      const admitted = readers(queue, name);
      await Promise.resolve();
      expect(admitted.names).toBe(name);
      await nextTick();
    }
  });

  it("Readers with small reads share a tick until their shares add up to one full read", async () => {
    const queue = new ReadQueue();
    let names = "";
    const read = async (name: string, part: number): Promise<void> => {
      await queue.wait();
      names += name;
      queue.finishRead(part);
    };
    const parts = { a: 0.3, b: 0.3, c: 0.6, d: 1, e: 0.5, f: 0.1 };
    const reading = Object.entries(parts).map(([name, part]) => read(name, part));
    const seen: string[] = [];
    while (names.length < 6) {
      await nextTick();
      seen.push(names);
    }
    expect(seen).toEqual(["abcd", "abcdef"]);
    await Promise.all(reading);
  });

  it("An aborted reader is resolved at once and does not delay the others", async () => {
    const queue = new ReadQueue();
    const abort = new AbortController();
    readers(queue, "a");
    const gone = readers(queue, "bcd", abort.signal);
    const admitted = readers(queue, "e");
    abort.abort();
    await Promise.resolve();
    expect(gone.names).toBe("bcd");
    expect(admitted.names).toBe("");
    await nextTick();
    expect(admitted.names).toBe("e");
    const late = readers(queue, "f", abort.signal);
    await Promise.resolve();
    expect(late.names).toBe("f");
  });
});
