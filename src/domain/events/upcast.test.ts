import { describe, expect, it } from "vitest";
import { EVENT_VERSIONS, isSupportedVersion, readStoredEvent } from "./upcast.ts";

const versions = {
  manifest: {
    ...EVENT_VERSIONS.manifest,
    "text.delta": { version: 2 },
    "tool_call.received": { version: 2 },
  },
  upcasts: {
    "text.delta": [
      (fields: { readonly [name: string]: unknown }) => ({ ...fields, language: "en" }),
    ],
  },
};

describe("readStoredEvent", () => {
  const event = { type: "text.delta", messageId: "m", block: 0, text: "a" };

  it("An event of the current version is returned unchanged", () => {
    expect(readStoredEvent({ type: "text.delta", version: 1, event }, EVENT_VERSIONS)).toBe(event);
    expect(readStoredEvent({ type: "text.delta", version: 2, event }, versions)).toEqual(event);
  });

  it("An event of an older version passes through every conversion step", () => {
    const read = readStoredEvent({ type: "text.delta", version: 1, event }, versions);
    expect(read).toEqual({ ...event, language: "en" });
  });

  it.each([
    ["text.delta", 0, false],
    ["text.delta", 1, true],
    ["text.delta", 2, true],
    ["text.delta", 3, false],
    ["tool_call.received", 1, false],
    ["toString", 1, false],
  ])("Whether %s of version %i can be read is %s", (type, version, expected) => {
    expect(isSupportedVersion({ type, version }, versions)).toBe(expected);
  });

  it("A stored value that does not match its row is not an event", () => {
    for (const wrong of [null, "text", [], {}, { type: "tool_call.received" }]) {
      const stored = { type: "text.delta", version: 1, event: wrong };
      expect(readStoredEvent(stored, EVENT_VERSIONS)).toBeUndefined();
    }
  });
});
