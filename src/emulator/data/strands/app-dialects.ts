import type { Dialect } from "../turn/dialect.ts";
import { createTurnTranscript } from "../turn/turn-transcript.ts";
import { SSE_CONTENT_TYPE } from "./strands-agent.ts";
import { HEARTBEAT, encodeTypescriptFailure } from "./typescript-dialect.ts";

/** The output of a TypeScript app that yields only text: raw lines without JSON. */
export function createStringsDialect(): Dialect {
  let role = "assistant";
  return {
    contentType: SSE_CONTENT_TYPE,
    keepAlive: HEARTBEAT,
    step(step) {
      if (step.type === "bytes") return [step.bytes];
      if (step.type === "fail") return [encodeTypescriptFailure(step)];
      if (step.type === "start") ({ role } = step);
      if (step.type !== "text" || role !== "assistant") return [];
      const lines = step.text.split("\n").map((text) => `data: ${text}\n`);
      return [encoder.encode(`${lines.join("")}\n`)];
    },
    finish: () => [],
    fail: encodeTypescriptFailure,
  };
}

/** A single object at the end, from an app that returns its result. */
export function createJsonDialect(): Dialect {
  const turnTranscript = createTurnTranscript();
  return {
    contentType: "application/json",
    step(step) {
      turnTranscript.step(step);
      if (step.type === "fail") return [encodeJsonFailure(step)];
      return step.type === "bytes" ? [step.bytes] : [];
    },
    finish() {
      const result = turnTranscript.messages.findLast(({ role }) => role === "assistant");
      return [encoder.encode(JSON.stringify({ result: result ?? null }))];
    },
    fail: encodeJsonFailure,
  };
}

function encodeJsonFailure({ message }: { readonly message: string }): Uint8Array {
  return encoder.encode(JSON.stringify({ error: message }));
}

const encoder = new TextEncoder();
