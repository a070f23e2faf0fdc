import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeUpdateLine, type ChunkUpdate } from "./acp-session-update.ts";

describe("Update line of a text chunk", () => {
  it("The fast path writes the same JSON as JSON.stringify for any text, with and without a cursor", () => {
    const text = fc.string({ unit: "binary" });
    const chunks = fc.record({
      sessionUpdate: fc.constantFrom<ChunkUpdate["sessionUpdate"]>(
        "user_message_chunk",
        "agent_message_chunk",
        "agent_thought_chunk",
      ),
      content: fc.oneof(
        fc.record({ type: fc.constant("text" as const), text }),
        fc.record({
          type: fc.constant("text" as const),
          text,
          _meta: fc.record({ harn: fc.record({ visible_delta: text }) }),
        }),
      ),
      messageId: text,
    });
    fc.assert(
      fc.property(text, chunks, fc.option(text), (sessionId, update, cursor) => {
        const place = cursor === null ? {} : { _meta: { harn: { cursor } } };
        const message = {
          jsonrpc: "2.0",
          method: "session/update",
          params: { sessionId, update, ...place },
        };
        expect(encodeUpdateLine(sessionId, update, cursor ?? undefined)).toBe(
          `${JSON.stringify(message)}\n`,
        );
      }),
    );
  });
});
