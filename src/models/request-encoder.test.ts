import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyHistorySteps, generateRequests } from "../../test/support/session/any-history.ts";
import { createRequestBody, type ModelDialect } from "../domain/model/model-dialect.ts";
import type { ModelMessage, ModelRequest } from "../domain/model/model-request.ts";
import { createHistoryNormalizer } from "../domain/model/history-normalizer.ts";
import { createChatDialect } from "../wire/chat/request.ts";
import { converseDialect } from "../wire/converse/request.ts";
import { createMessagesDialect } from "../wire/messages/request.ts";
import { createRequestEncoder } from "./request-encoder.ts";
import { runs } from "../../test/support/test-depth.ts";

const DIALECTS: readonly (readonly [string, ModelDialect])[] = [
  ["chat completions", createChatDialect("m")],
  [
    "chat completions with reasoning",
    createChatDialect("m", { reasoningName: "reasoning_content" }),
  ],
  ["messages", createMessagesDialect("m")],
  ["converse", converseDialect],
];

const OPTIONS: readonly Omit<ModelRequest, "messages">[] = [
  {},
  { system: "Be brief.", maxTokens: 10 },
  { tools: [{ name: "look", description: "Looks", schema: { type: "object" } }] },
];

function decoded(body: readonly Uint8Array[]): unknown {
  return JSON.parse(Buffer.concat(body).toString());
}

function plain(body: object): unknown {
  return JSON.parse(JSON.stringify(body));
}

function attempt(encode: () => unknown): unknown {
  try {
    return encode();
  } catch (error) {
    return String(error);
  }
}

describe.each(DIALECTS)("Request encoder, %s", (_, dialect) => {
  it("A cached encoding equals a fresh encoding after any additions, cuts and replacements", () => {
    fc.assert(
      fc.property(anyHistorySteps, (steps) => {
        const encode = createRequestEncoder(dialect);
        for (const [index, request] of [...generateRequests(steps)].entries()) {
          const whole = { ...OPTIONS[index % OPTIONS.length], ...request };
          expect(attempt(() => decoded(encode(whole)))).toEqual(
            attempt(() => plain(createRequestBody(dialect, whole))),
          );
        }
      }),
      { numRuns: runs(250) },
    );
  });

  it("A normalized history is encoded like a fresh history after any additions, cuts and replacements", () => {
    fc.assert(
      fc.property(anyHistorySteps, (steps) => {
        const settle = createHistoryNormalizer();
        const encode = createRequestEncoder(dialect, { seed: 1 });
        for (const { messages, stableCount } of generateRequests(steps)) {
          const tail: ModelMessage = { role: "user", blocks: [{ type: "text", text: "Go on." }] };
          const settled = settle([...messages, tail], stableCount);
          expect(decoded(encode(settled))).toEqual(
            plain({ ...createRequestBody(dialect, settled), seed: 1 }),
          );
        }
      }),
      { numRuns: runs(250) },
    );
  });

  it("Stable messages are encoded only once", () => {
    let encoded = 0;
    const counting: ModelDialect = {
      ...dialect,
      encodeMessage: (message) => {
        encoded += 1;
        return dialect.encodeMessage(message);
      },
    };
    const encode = createRequestEncoder(counting);
    const history: ModelMessage[] = [];
    const counts = Array.from({ length: 4 }, (_unused, turn) => {
      encoded = 0;
      const question: ModelMessage = { role: "user", blocks: [{ type: "text", text: "And?" }] };
      encode({ messages: [...history, question], stableCount: history.length });
      history.push(question, { role: "assistant", blocks: [{ type: "text", text: `${turn}` }] });
      return encoded;
    });
    expect(counts).toEqual([1, 3, 3, 3]);
  });

  it("An encoded request does not change when its conversation grows", () => {
    const encode = createRequestEncoder(dialect);
    const history: ModelMessage[] = [
      { role: "user", blocks: [{ type: "text", text: "One" }] },
      { role: "assistant", blocks: [{ type: "text", text: "1" }] },
    ];
    const next: ModelMessage = { role: "user", blocks: [{ type: "text", text: "Two" }] };
    const first = encode({ messages: [...history, next], stableCount: 2 });
    const copy = Buffer.concat(first);
    const longer = [...history, next, history[1] ?? next];
    encode({ messages: [...longer, next], stableCount: 4 });
    expect(Buffer.concat(first)).toEqual(copy);
  });

  it("A long history is sent completely and in few chunks", () => {
    const encode = createRequestEncoder(dialect);
    const history: ModelMessage[] = [];
    const next: ModelMessage = { role: "user", blocks: [{ type: "text", text: "And?" }] };
    let parts: readonly Uint8Array[] = [];
    for (let turn = 0; turn < 300; turn++) {
      const text = `${turn} `.repeat(300);
      history.push({ role: "user", blocks: [{ type: "text", text: `Number ${turn}?` }] });
      history.push({ role: "assistant", blocks: [{ type: "text", text }] });
      parts = encode({ messages: [...history, next], stableCount: history.length });
    }
    const bytes = Buffer.concat(parts);
    expect(JSON.parse(bytes.toString())).toEqual(
      plain(createRequestBody(dialect, { messages: [...history, next] })),
    );
    expect(parts.length).toBeLessThan(3 + bytes.length / 65_536);
  });

  it("Messages in the configured body replace the messages of the request", () => {
    const encode = createRequestEncoder(dialect, { messages: ["fixed"] });
    const history: ModelMessage[] = [
      { role: "user", blocks: [{ type: "text", text: "One" }] },
      { role: "assistant", blocks: [{ type: "text", text: "1" }] },
      { role: "user", blocks: [{ type: "text", text: "Two" }] },
    ];
    expect(decoded(encode({ messages: history, stableCount: 2 }))).toMatchObject({
      messages: ["fixed"],
    });
  });
});
