import { describe, expect, it } from "vitest";
import { encodeEvent } from "../wire/framing/eventstream-format.ts";
import { detectFormat } from "./capture-format.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("Capture format detection", () => {
  it.each([
    ["eventstream", encodeEvent("messageStart", { role: "assistant" })],
    ["sse", bytes('data: {"init_event_loop": true}\n\n')],
    ["sse", bytes(': heartbeat\n\ndata: "x"\n\n')],
    ["sse", bytes("\ufeffevent: error\ndata: {}\n\n")],
    ["json-array", bytes('\n  [\n  {"messageStart": {"role": "assistant"}}]')],
    ["json-lines", bytes('{"messageStart":{"role":"assistant"}}\n{"messageStop":{}}\n')],
    ["json-lines", bytes('{"messageStart":{"role":"assistant"}}\r\n\n{"messageStop":{}}')],
    ["json", bytes('{"result":"hi"}')],
    ["json", bytes('{ "events": [] }\n')],
    ["json", bytes('"hello"')],
    ["json", bytes('{\n  "session_id": "x",\n  "events": []\n}')],
    ["json", bytes('{"session_id":"x","events":[]}')],
    ["recording", bytes('{"recording":1,"status":200,"headers":{}}\n{"at":0,"end":"whole"}\n')],
    ["recording", bytes('{"recording":1,"status":200,"headers":{}}')],
    ["json", bytes('{"recording":"song.mp3"}')],
  ] as const)("The format %s is detected from the start of a capture", (format, start) => {
    expect(detectFormat(start, true)).toBe(format);
  });

  it.each([
    ["an empty file", bytes("")],
    ["a gzip file; unpack it first", Uint8Array.of(0x1f, 0x8b, 8, 0)],
    [
      "an HTTP response with headers; capture only the body (curl without -i)",
      bytes("HTTP/1.1 200 OK\r\n"),
    ],
    ["an HTML page or XML", bytes("<html>")],
    ['text that starts with "Hello there"', bytes("Hello there")],
    [
      "binary data that starts with 89 50 4e 47 0d 0a 1a 0a",
      Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10),
    ],
  ])("An unknown capture is described as %s", (description, start) => {
    expect(detectFormat(start, true)).toEqual({ description });
  });

  it("Detection waits for more bytes while they can help", () => {
    expect(detectFormat(bytes(""), false)).toBeUndefined();
    expect(detectFormat(bytes("dat"), false)).toBeUndefined();
    expect(detectFormat(bytes('{"messageStart": {'), false)).toBeUndefined();
  });
});
