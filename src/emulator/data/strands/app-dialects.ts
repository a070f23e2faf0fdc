import type { Dialect } from "../dialect.ts";
import { transcript } from "../transcript.ts";
import { SSE } from "./agent.ts";
import { HEARTBEAT, typescriptFailure } from "./typescript-dialect.ts";

/** What an app in TypeScript sends that yields the text alone: raw lines, no JSON. */
export function stringsDialect(): Dialect {
  let role = "assistant";
  return {
    contentType: SSE,
    keepAlive: HEARTBEAT,
    step(step) {
      if (step.type === "bytes") return [step.bytes];
      if (step.type === "fail") return [typescriptFailure(step)];
      if (step.type === "start") ({ role } = step);
      if (step.type !== "text" || role !== "assistant") return [];
      const lines = step.text.split("\n").map((text) => `data: ${text}\n`);
      return [encoder.encode(`${lines.join("")}\n`)];
    },
    finish: () => [],
    fail: typescriptFailure,
  };
}

/** One object at the end, the way an app answers that returns its result. */
export function jsonDialect(): Dialect {
  const said = transcript();
  return {
    contentType: "application/json",
    step(step) {
      said.step(step);
      if (step.type === "fail") return [jsonFailure(step)];
      return step.type === "bytes" ? [step.bytes] : [];
    },
    finish() {
      const result = said.messages.findLast(({ role }) => role === "assistant");
      return [encoder.encode(JSON.stringify({ result: result ?? null }))];
    },
    fail: jsonFailure,
  };
}

function jsonFailure({ message }: { readonly message: string }): Uint8Array {
  return encoder.encode(JSON.stringify({ error: message }));
}

const encoder = new TextEncoder();
