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

describe("a stored event", () => {
  const event = { type: "text.delta", messageId: "m", block: 0, text: "a" };

  it("of today's version is what it is", () => {
    expect(readStoredEvent({ type: "text.delta", version: 1, event }, EVENT_VERSIONS)).toBe(event);
    expect(readStoredEvent({ type: "text.delta", version: 2, event }, versions)).toEqual(event);
  });

  it("of an older version takes every step", () => {
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
  ])("%s of version %i is understood: %s", (type, version, wanted) => {
    expect(isSupportedVersion({ type, version }, versions)).toBe(wanted);
  });

  it("that is not what its row says is none", () => {
    for (const wrong of [null, "text", [], {}, { type: "tool_call.received" }]) {
      const stored = { type: "text.delta", version: 1, event: wrong };
      expect(readStoredEvent(stored, EVENT_VERSIONS)).toBeUndefined();
    }
  });
});
