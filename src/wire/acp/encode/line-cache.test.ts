import { describe, expect, it } from "vitest";
import type { ChunkUpdate } from "./acp-session-update.ts";
import { encodeUpdateLine } from "./acp-session-update.ts";
import { createLineCache } from "./line-cache.ts";
import { encodeLog } from "./vendor-updates.ts";

/** Creates a chunk that counts how often its text is serialized. */
function chunk(text: string) {
  let written = 0;
  const countedText = { toJSON: () => ((written += 1), text) };
  const content = { type: "text", text: countedText };
  const update = { sessionUpdate: "agent_message_chunk", content, messageId: "m" };
  return { update: update as unknown as ChunkUpdate, written: () => written };
}

function plain(text: string): ChunkUpdate {
  return {
    sessionUpdate: "agent_message_chunk",
    content: { type: "text", text },
    messageId: "m",
  };
}

describe("Line cache", () => {
  it("The same update at the same cursor is encoded once for 50 clients [ACP-20]", () => {
    const lines = createLineCache();
    const { update, written } = chunk("a");
    const sentLines = Array.from({ length: 50 }, () =>
      lines.encodeUpdate("s", { ...update }, "i.1"),
    );
    expect(written()).toBe(1);
    expect(new Set(sentLines)).toEqual(new Set([encodeUpdateLine("s", plain("a"), "i.1")]));
  });

  it("Updates that differ in content, cursor or session get separate lines", () => {
    const lines = createLineCache();
    const expectedLines: readonly (readonly [string, ChunkUpdate, string?])[] = [
      ["s", plain("a"), "i.1"],
      ["s", plain("b"), "i.1"],
      ["s", plain("a"), "i.2"],
      ["other", plain("a"), "i.1"],
      ["s", plain("a")],
    ];
    for (const _ of [1, 2]) {
      expect(expectedLines.map((line) => lines.encodeUpdate(...line))).toEqual(
        expectedLines.map((line) => encodeUpdateLine(...line)),
      );
    }
    const log = encodeLog({ level: "warn", message: "a", fields: {} });
    expect(lines.encodeUpdate("s", log, "i.1")).toContain("session/update");
    expect(lines.encodeEvent("s", log, "i.1")).toContain("_harn/agentEvent");
  });

  it("Old lines are evicted", () => {
    const lines = createLineCache();
    const { update, written } = chunk("a");
    lines.encodeUpdate("s", update, "i.1");
    for (let seq = 2; seq < 4000; seq += 1) lines.encodeUpdate("s", plain("b"), `i.${seq}`);
    lines.encodeUpdate("s", update, "i.1");
    expect(written()).toBe(2);
  });
});
