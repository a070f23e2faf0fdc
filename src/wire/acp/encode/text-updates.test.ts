import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeAcpUpdates, HOST_PROFILE } from "../../../../test/support/acp/encode-acp-updates.ts";
import { formatSortedJson } from "../../../../test/support/sorted-json.ts";
import type { SessionEvent } from "../../../domain/events/session-event.ts";
import { STOCK_CLIENT } from "../decode/client-profile.ts";
import { encodeUpdateLine, type AcpSessionUpdate } from "./acp-session-update.ts";

const block = { messageId: "m", block: 0 };

function spoken(...pieces: readonly string[]): SessionEvent[] {
  return [
    ...pieces.map((text) => ({ type: "text.delta", ...block, text }) as const),
    { type: "text.finished", ...block, text: pieces.join("") },
    { type: "message.finished", messageId: "m", reason: null },
  ];
}

interface SeenUpdates {
  readonly visible_text?: string;
  readonly visible_delta: string;
}

function seenIn(updates: readonly AcpSessionUpdate[]): SeenUpdates[] {
  return updates.flatMap((update) => Object(update).content?.["_meta"]?.harn ?? []);
}

describe("Visible text for bridge hosts", () => {
  it("The visible text is part of the content, as in the documented example [B-031] [B-056] [ACP-75]", () => {
    const [update] = encodeAcpUpdates(spoken("hello"), HOST_PROFILE);
    const { messageId, ...example } = JSON.parse(encodeUpdateLine("s", update as AcpSessionUpdate))
      .params.update;
    expect(messageId).toBe("m");
    expect(formatSortedJson(example)).toBe(
      formatSortedJson({
        sessionUpdate: "agent_message_chunk",
        content: {
          type: "text",
          text: "hello",
          _meta: { harn: { visible_text: "hello", visible_delta: "hello" } },
        },
      }),
    );
  });

  it("The first and the last chunk have the whole visible text and each chunk has its delta [B-057] [W-31]", () => {
    const updates = encodeAcpUpdates(spoken("Let ", "me ", "look"), HOST_PROFILE);
    expect(seenIn(updates)).toEqual([
      { visible_text: "Let ", visible_delta: "Let " },
      { visible_delta: "me " },
      { visible_delta: "look" },
      { visible_text: "Let me look", visible_delta: "" },
    ]);
    const texts = updates.map((update) => Object(update).content.text);
    expect(texts).toEqual(["Let ", "me ", "look", ""]);
  });

  it("The deltas add up to the last whole text, wherever the text is split or the client attached [B-057] [W-43]", () => {
    const piece = fc.constantFrom("<think>", "</think>", "\n", "Hi 🚀", "<", "\u0001".repeat(50));
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1 }), fc.nat(30), (pieces, upTo) => {
        const seen = seenIn(
          encodeAcpUpdates(spoken(...pieces), HOST_PROFILE, { upTo, lineBytes: 4096 }),
        );
        const whole = seen.findLast(({ visible_text }) => visible_text !== undefined);
        expect(seen.map(({ visible_delta }) => visible_delta).join("")).toBe(whole?.visible_text);
      }),
    );
  });

  it("A whole text longer than a line is omitted and the deltas are complete [ACP-15]", () => {
    const text = "word ".repeat(20_000);
    const seen = seenIn(encodeAcpUpdates(spoken(text), HOST_PROFILE));
    expect(seen.map(({ visible_delta }) => visible_delta).join("")).toBe(text);
    expect(seen.filter(({ visible_text }) => visible_text !== undefined)).toHaveLength(1);
  });

  it("A replaced message starts a new visible text", () => {
    const events: SessionEvent[] = [
      { type: "text.delta", ...block, text: "BAD" },
      { type: "message.replaced", messageId: "m", text: "GOOD" },
    ];
    expect(seenIn(encodeAcpUpdates(events, HOST_PROFILE)).at(-1)).toEqual({
      visible_text: "GOOD",
      visible_delta: "GOOD",
    });
  });

  it("The visible text is completed if the turn ends before the message", () => {
    const events: SessionEvent[] = [
      ...spoken("a", "b<").slice(0, 2),
      { type: "text.delta", ...block, text: "\n<thi" },
      {
        type: "turn.finished",
        turnId: "turn_1",
        outcome: "cancelled",
        reason: null,
        usage: null,
        steps: 1,
      },
    ];
    expect(seenIn(encodeAcpUpdates(events, HOST_PROFILE)).at(-1)).toEqual({
      visible_text: "ab<\n<thi",
      visible_delta: "<thi",
    });
  });

  it("Thoughts, user messages and stock clients have no visible text [B-056] [ACP-74]", () => {
    const thought: SessionEvent = { type: "thought.finished", ...block, text: "hm" };
    expect(seenIn(encodeAcpUpdates([thought], HOST_PROFILE))).toEqual([]);
    expect(seenIn(encodeAcpUpdates(spoken("hello"), STOCK_CLIENT))).toEqual([]);
    expect(encodeAcpUpdates([thought], HOST_PROFILE)).toMatchObject([
      { sessionUpdate: "agent_thought_chunk" },
    ]);
  });

  it("Every chunk has the id of its message [ACP-73]", () => {
    const second = spoken("c").map((event) =>
      "messageId" in event ? { ...event, messageId: "m2" } : event,
    );
    const ids = encodeAcpUpdates([...spoken("a", "b"), ...second], STOCK_CLIENT).map((update) =>
      "messageId" in update ? update.messageId : "",
    );
    expect(ids).toEqual(["m", "m", "m2"]);
  });
});
