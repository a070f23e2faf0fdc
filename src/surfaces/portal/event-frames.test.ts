import { describe, expect, it } from "vitest";
import type { Envelope } from "../../domain/events/envelope.ts";
import { EventFrames } from "./event-frames.ts";

function envelope(seq: number, text: string, visibility: Envelope["visibility"] = "public") {
  const event = { type: "text.delta", messageId: "msg_1", block: 0, text } as const;
  return { sessionId: "ses_1", seq, at: 0, visibility, event } satisfies Envelope;
}

const frameOf = (one: Envelope): string => `id: i.${one.seq}\ndata: ${JSON.stringify(one)}\n\n`;

describe("Frames of events", () => {
  it("Short frames are sent together and long frames are split, in chunks of at most 64 kB", () => {
    const lengths = [10, 20, 200_000, 5, 30_000, 30_000, 30_000, 64 * 1024];
    const events = lengths.map((length, index) => envelope(index + 1, "é".repeat(length)));
    const pieces = [...new EventFrames().pieces({ incarnation: "i", events })];
    expect(Buffer.concat(pieces).toString()).toBe(events.map(frameOf).join(""));
    expect(Math.max(...pieces.map(({ length }) => length))).toBe(64 * 1024);
    expect(pieces.length).toBeLessThan(20);
    expect(pieces[0]?.toString()).toBe(events.slice(0, 2).map(frameOf).join(""));
  });

  it("Internal events are omitted", () => {
    const events = [envelope(1, "a", "internal"), envelope(2, "b"), envelope(3, "c", "internal")];
    const pieces = [...new EventFrames().pieces({ incarnation: "i", events })];
    expect(Buffer.concat(pieces).toString()).toBe(frameOf(envelope(2, "b")));
    expect([...new EventFrames().pieces({ incarnation: "i", events: [] })]).toEqual([]);
  });

  it("All readers of a log share the same bytes, and other logs have other bytes", () => {
    const frames = new EventFrames();
    const piecesFor = (incarnation: string) => [
      // Every reader gets the events in a separate batch.
      ...frames.pieces({ incarnation, events: [envelope(1, "x".repeat(100_000))] }),
    ];
    const first = piecesFor("i");
    for (const [index, { buffer, byteOffset }] of piecesFor("i").entries()) {
      expect(buffer).toBe(first[index]?.buffer);
      expect(byteOffset).toBe(first[index]?.byteOffset);
    }
    expect(piecesFor("j")[0]?.buffer).not.toBe(first[0]?.buffer);
  });
});
