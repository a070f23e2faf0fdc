import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runCodec } from "../../src/domain/codec.ts";
import { createInferenceEncoder } from "../../src/wire/aigo/inference-output.ts";
import { createUnrecordedRequest } from "../../src/wire/responses/recorded-request.ts";
import { foldResponse } from "../../src/wire/responses/stream/response-stream.ts";
import { anyDisorder, anyTurn, SESSION } from "../responses/any-turn.ts";
import { aigoProblems } from "./aigo-models.ts";
import { allowLongTests, runs } from "../support/test-depth.ts";

allowLongTests();

const MESSAGE = {
  id: "msg_1",
  type: "message",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text: "Yes.", annotations: [] }],
};
const REASONING = { id: "rs_1", type: "reasoning", status: "completed", summary: [] };
const MCP_CALL = { id: "mcp_1", type: "mcp_call", name: "search", arguments: "{}" };

describe("The schema of AI GO! models", () => {
  it.each([
    ["reasoning", [REASONING, MESSAGE]],
    ["an mcp_call", [MCP_CALL, MESSAGE]],
    ["no assistant message", []],
    ["a message without a status", [{ ...MESSAGE, status: undefined }]],
  ])("A model output with %s is rejected", (_, items) => {
    const output = JSON.parse(JSON.stringify({ items }));
    expect(aigoProblems("ModelOutput", output)).not.toEqual([]);
  });

  it("A response may have reasoning and may not have an mcp_call", () => {
    expect(aigoProblems("ResponseOutput", [REASONING, MESSAGE])).toEqual([]);
    expect(aigoProblems("ResponseOutput", [MCP_CALL, MESSAGE])).not.toEqual([]);
  });
});

describe("Outputs for AI GO!", () => {
  it("Every turn of a session is a valid model output [OR-74]", () => {
    const place = { sessionId: SESSION, seq: 7 };
    const encoder = createInferenceEncoder(place, { state: {}, ignored: [] });
    fc.assert(
      fc.property(fc.oneof(anyDisorder, anyTurn), (log) => {
        const outputs = runCodec(encoder, log);
        expect(outputs.flatMap((output) => aigoProblems("ModelOutput", output))).toEqual([]);
        expect(outputs).toHaveLength(1);
      }),
      { numRuns: runs(1000) },
    );
  });

  it("Every response in the trace mode `pairs` has an output that AI GO! accepts [OR-58]", () => {
    const recorded = { ...createUnrecordedRequest("demo"), trace: "pairs" } as const;
    fc.assert(
      fc.property(fc.oneof(anyDisorder, anyTurn), (log) => {
        const output = foldResponse(log, recorded)?.output;
        expect(aigoProblems("ResponseOutput", output)).toEqual([]);
      }),
      { numRuns: runs(1000) },
    );
  });
});
