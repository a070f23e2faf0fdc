import { describe, expect, it } from "vitest";
import { AppendQueue, type WaitingEntry } from "./append-queue.ts";

const lease = { sessionId: "ses_1", owner: "me", epoch: 1 };

function entryOf(text: string) {
  const event = { type: "text.delta", messageId: "m", block: 0, text } as const;
  return { events: [{ at: 0, visibility: "public", event } as const], sync: false };
}

function recorded() {
  const batches: (readonly WaitingEntry[])[] = [];
  const queue = new AppendQueue((entries) => {
    batches.push(entries);
    for (const { encoded, resolve } of entries)
      resolve({ status: "repeated", reply: encoded.expectedSeq });
  });
  return { batches, queue };
}

describe("Append queue", () => {
  it("Entries of one tick are written in one transaction", async () => {
    const { batches, queue } = recorded();
    await Promise.all([0, 1, 2].map((seq) => queue.append(lease, seq, entryOf("a"))));
    await queue.append(lease, 3, entryOf("a"));
    expect(batches.map((batch) => batch.length)).toEqual([3, 1]);
  });

  it.each([
    ["number", 1500, 10, 512],
    ["size", 30, 100_000, 10],
  ])(
    "A transaction is limited in %s, and entries keep their order",
    async (_, count, size, most) => {
      const { batches, queue } = recorded();
      const text = "x".repeat(size);
      const appends = Array.from({ length: count }, (_, seq) =>
        queue.append(lease, seq, entryOf(text)),
      );
      await Promise.all(appends);
      expect(Math.max(...batches.map((batch) => batch.length))).toBeLessThanOrEqual(most);
      const order = batches.flat().map(({ encoded }) => encoded.expectedSeq);
      expect(order).toEqual(Array.from({ length: count }, (_, seq) => seq));
    },
  );

  it("The event loop runs between two transactions", async () => {
    const { batches, queue } = recorded();
    const appends = Array.from({ length: 1500 }, (_, seq) =>
      queue.append(lease, seq, entryOf("a")),
    );
    const seen: number[] = [];
    const look = (): void => {
      seen.push(batches.length);
      if (batches.length < 3) setImmediate(look);
    };
    setImmediate(look);
    await Promise.all(appends);
    expect(seen.slice(0, 2)).toEqual([1, 2]);
  });

  it("An entry that cannot be encoded is rejected, and later entries are written", async () => {
    const { queue } = recorded();
    const wrong = queue.append(lease, 0, {
      ...entryOf("a"),
      command: { id: "c", reply: circular() },
    });
    await expect(wrong).rejects.toThrow("circular");
    expect(await queue.append(lease, 0, entryOf("a"))).toEqual({ status: "repeated", reply: 0 });
  });
});

function circular(): never {
  const value: { self?: unknown } = {};
  value.self = value;
  return value as never;
}
