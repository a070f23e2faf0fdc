import { describe, expect, it } from "vitest";
import type { ChunkUpdate } from "./session-update.ts";
import { updateLine } from "./session-update.ts";
import { sharedLines } from "./shared-lines.ts";
import { logUpdate } from "./vendor-updates.ts";

/** A chunk that counts how often it is written out. */
function chunk(text: string) {
  let written = 0;
  const said = { toJSON: () => ((written += 1), text) };
  const content = { type: "text", text: said };
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

describe("lines for many clients", () => {
  it("are written out once where they are told the same at the same place [ACP-20]", () => {
    const lines = sharedLines();
    const { update, written } = chunk("a");
    const told = Array.from({ length: 50 }, () => lines.update("s", { ...update }, "i.1"));
    expect(written()).toBe(1);
    expect(new Set(told)).toEqual(new Set([updateLine("s", plain("a"), "i.1")]));
  });

  it("are each client's own where what they are told, or where, differs", () => {
    const lines = sharedLines();
    const wanted: readonly (readonly [string, ChunkUpdate, string?])[] = [
      ["s", plain("a"), "i.1"],
      ["s", plain("b"), "i.1"],
      ["s", plain("a"), "i.2"],
      ["other", plain("a"), "i.1"],
      ["s", plain("a")],
    ];
    for (const _ of [1, 2]) {
      expect(wanted.map((told) => lines.update(...told))).toEqual(
        wanted.map((told) => updateLine(...told)),
      );
    }
    const log = logUpdate({ level: "warn", message: "a", fields: {} });
    expect(lines.update("s", log, "i.1")).toContain("session/update");
    expect(lines.event("s", log, "i.1")).toContain("_harn/agentEvent");
  });

  it("are forgotten when others have come", () => {
    const lines = sharedLines();
    const { update, written } = chunk("a");
    lines.update("s", update, "i.1");
    for (let seq = 2; seq < 4000; seq += 1) lines.update("s", plain("b"), `i.${seq}`);
    lines.update("s", update, "i.1");
    expect(written()).toBe(2);
  });
});
