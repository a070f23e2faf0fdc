import { encodeEvent } from "../src/wire/framing/eventstream-format.ts";

/** A turn with many text deltas, as sent by Harness and ConverseStream. */
export function encodeTextTurn(deltas: number, text = "hello"): Uint8Array {
  return Buffer.concat([
    encodeEvent("messageStart", { role: "assistant" }),
    ...Array.from({ length: deltas }, (_, index) =>
      encodeEvent("contentBlockDelta", {
        contentBlockIndex: 0,
        delta: { text: `${text}${index % 10} ` },
      }),
    ),
    encodeEvent("contentBlockStop", { contentBlockIndex: 0 }),
    encodeEvent("messageStop", { stopReason: "end_turn" }),
    encodeEvent("metadata", {
      usage: { inputTokens: 10, outputTokens: deltas, totalTokens: 10 + deltas },
      metrics: { latencyMs: 1000 },
    }),
  ]);
}

/** Splits bytes into chunks, as read from a socket. */
export function splitChunks(bytes: Uint8Array, size = 65_536): Uint8Array[] {
  const count = Math.ceil(bytes.length / size);
  return Array.from({ length: count }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}
