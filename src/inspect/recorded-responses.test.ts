import { describe, expect, it } from "vitest";
import { splitChunks } from "../../test/support/bytes/bytes.ts";
import { encodeEvent } from "../wire/framing/eventstream-format.ts";
import { readCapturedTurn } from "./captured-turn.ts";
import { inspectCapture } from "./inspect-capture.ts";
import type { OutputFormat } from "./output-format.ts";
import { PLAIN_STYLE } from "./trace-style.ts";

const TYPE = "application/vnd.amazon.eventstream";
const SESSION = "x-amzn-bedrock-agentcore-runtime-session-id";

/** The lines of the emulator's recording of a response. */
function recording(pieces: readonly Uint8Array[], session: string, end?: string): object[] {
  const headers = { "content-type": TYPE, [SESSION]: session };
  return [
    { recording: 1, status: 200, headers },
    ...pieces.map((bytes, at) => ({ at, bytes: Buffer.from(bytes).toString("base64") })),
    ...(end === undefined ? [] : [{ at: 1500, end }]),
  ];
}

function encodeMessage(text: string): Uint8Array[] {
  return [
    encodeEvent("messageStart", { role: "assistant" }),
    encodeEvent("contentBlockDelta", { contentBlockIndex: 0, delta: { text } }),
    encodeEvent("contentBlockStop", { contentBlockIndex: 0 }),
    encodeEvent("messageStop", { stopReason: "end_turn" }),
  ];
}

async function* chunksIn(lines: readonly (object | string)[]): AsyncGenerator<Uint8Array> {
  const texts = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  yield* splitChunks(new TextEncoder().encode(`${texts.join("\n")}\n`), 100);
}

async function inspected(
  lines: readonly (object | string)[],
  output: OutputFormat = "text",
): Promise<string> {
  let written = "";
  const write = async (text: string): Promise<boolean> => {
    written += text;
    return true;
  };
  await inspectCapture({
    chunks: chunksIn(lines),
    name: "recording",
    output,
    style: PLAIN_STYLE,
    write,
  });
  return written;
}

describe("Inspection of emulator recordings", () => {
  it("Each turn is shown with its session and the way its response ended", async () => {
    const lines = [
      ...recording(encodeMessage("One."), "s-1", "whole"),
      ...recording(encodeMessage("Two.").slice(0, 2), "s-2", "reset"),
    ];
    expect(await inspected(lines)).toBe(`recording 1 of session s-1 (${TYPE})
assistant
  One.

completed (end_turn) · 1 message, 0 calls · no usage reported
the response was complete after 1.5 s

recording 2 of session s-2 (${TYPE})
assistant
  Two.

failed · 1 message, 0 calls · no usage reported
incomplete_turn: The stream ended inside a message

2 diagnostics
  block_stop_missing at byte 268: A text block was never closed by the provider
  message_stop_missing at byte 268: A message was never closed by the provider
the connection was reset after 1.5 s
`);
  });

  it.each([
    ["stops without an end", recording(encodeMessage("One.").slice(0, 3), "s-1")],
    [
      "stops inside a line",
      [...recording(encodeMessage("One.").slice(0, 3), "s-1"), '{"at":3,"by'],
    ],
  ])("Reading continues with the next recording if a recording %s", async (_, cut) => {
    const trace = await inspected([...cut, ...recording(encodeMessage("Two."), "s-2", "left")]);
    expect(trace).toContain("incomplete_turn");
    expect(trace).toContain("the recording stops after 0.002 s\n\nrecording 2 of session s-2");
    expect(trace).toMatch(/ {2}Two\.\n\ncompleted .*\nthe client left after 1.5 s\n$/);
  });

  it("Reading continues with the next recording after an unreadable stream", async () => {
    const garbage = new Uint8Array(64).fill(1);
    const lines = [
      ...recording([garbage, ...encodeMessage("One.")], "s-1", "whole"),
      ...recording(encodeMessage("Two."), "s-2", "whole"),
    ];
    const trace = await inspected(lines);
    expect(trace).toContain("not read to the end after 0 s");
    expect(trace).toContain("  Two.\n");
  });

  it("The items of each turn have unique ids", async () => {
    const lines = [1, 2].flatMap(() => recording(encodeMessage("One."), "s-1", "whole"));
    const items = await inspected(lines, "open-responses");
    expect([...items.matchAll(/"id": "(.*)"/g)].map((match) => match[1])).toEqual([
      "msg_s-1-1_0",
      "msg_s-1-2_0",
    ]);
  });

  it("A recording with one turn is accepted as a turn, and two turns are refused", async () => {
    const one = recording(encodeMessage("One."), "s-1", "whole");
    const name = "recording";
    expect(await readCapturedTurn({ chunks: chunksIn(one), name })).toMatchObject({ text: "One." });
    await expect(
      readCapturedTurn({ chunks: chunksIn([...one, ...one]), name }),
    ).rejects.toMatchObject({
      code: "unreadable_input",
      message: "recording contains 2 turns, expected 1",
    });
  });
});
