import { describe, expect, it } from "vitest";
import { decodeLiveRequest } from "./decode-live-request.ts";
import type { LiveRequest } from "./live-frames.ts";

const REQUESTS: readonly LiveRequest[] = [
  { type: "subscribe", id: "s1", sessionId: "ses_1" },
  { type: "subscribe", id: "s1", sessionId: "ses_1", cursor: "k3.120" },
  { type: "unsubscribe", id: "s1" },
  { type: "attach", id: "s1", name: "Firefox on Linux", mode: "observer" },
  {
    type: "attach",
    id: "s1",
    name: "Tab",
    mode: "controller",
    takeOver: true,
    clientId: "portal-1",
  },
  { type: "detach", id: "s1" },
  { type: "watch", topic: "inbox" },
  { type: "unwatch", topic: "sessions" },
  { type: "ping", id: 3 },
];

describe("Requests of /api/live", () => {
  it.each(REQUESTS)("A request is decoded, and its unknown fields are ignored: %j", (request) => {
    const text = JSON.stringify({ ...request, later: [1] });
    expect(decodeLiveRequest(text)).toEqual({ ok: true, frame: request });
  });

  it("Null counts as an absent field", () => {
    const text = '{"type":"subscribe","id":"a","sessionId":"b","cursor":null}';
    expect(decodeLiveRequest(text)).toMatchObject({ ok: true, frame: { id: "a" } });
  });

  it.each([
    ["not JSON", "{", undefined, "not valid JSON"],
    ["an array", "[]", undefined, 'not an object with a "type"'],
    ["no type", '{"id":"a"}', undefined, 'not an object with a "type"'],
    ["a missing field", '{"type":"unsubscribe"}', undefined, '"id" is missing'],
    ["an empty id", '{"type":"unsubscribe","id":""}', "", '"id" is not a string of 1 to 64'],
    [
      "a long id",
      `{"type":"unsubscribe","id":"${"x".repeat(65)}"}`,
      undefined,
      '"id" is not a string of 1 to 64',
    ],
    [
      "an invalid cursor",
      '{"type":"subscribe","id":"a","sessionId":"b","cursor":"7"}',
      "a",
      '"cursor" is not a cursor',
    ],
    ["an unknown topic", '{"type":"watch","topic":"x"}', "x", '"topic" is not "sessions" or'],
    ["a fractional ping", '{"type":"ping","id":1.5}', undefined, '"id" is not a whole number'],
    [
      "a role that does not exist",
      '{"type":"attach","id":"a","name":"n","mode":"owner"}',
      "a",
      '"mode" is not "controller" or "observer"',
    ],
    [
      "a flag that is not a boolean",
      '{"type":"attach","id":"a","name":"n","mode":"observer","takeOver":"yes"}',
      "a",
      '"takeOver" is not a boolean',
    ],
    ["too many characters", `{"type":"${"x".repeat(5000)}"}`, undefined, "more than 4096"],
    ["nesting without end", "[".repeat(3000), undefined, "Nested deeper"],
  ])("A frame with %s is invalid", (_, text, id, message) => {
    expect(decodeLiveRequest(text)).toEqual({
      ok: false,
      problem: {
        kind: "invalid",
        error: { code: "invalid_message", message: expect.stringContaining(message) },
        ...(id !== undefined && { id }),
      },
    });
  });

  it.each(["fly", "constructor", "__proto__"])("A frame of the type %s is unknown", (type) => {
    const decoded = decodeLiveRequest(JSON.stringify({ type, id: "a" }));
    expect(decoded).toMatchObject({ ok: false, problem: { kind: "unknown", id: "a" } });
  });
});
