import { describe, expect, it } from "vitest";
import { anthropic } from "../../src/models/anthropic.ts";
import { startPeer } from "../support/server/scripted-peer.ts";
import { ask, HELLO } from "./run-model.ts";

/** A tool call in the layout of Anthropic's documentation on streaming, shortened. */
const DOCUMENTED = `event: message_start
data: {"type":"message_start","message":{"id":"msg_014p7gG3wDgGV9EUtLvnow3U","type":"message","role":"assistant","model":"claude-opus-4-1","stop_sequence":null,"usage":{"input_tokens":472,"output_tokens":2},"content":[],"stop_reason":null}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Okay"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":", let's check."}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_01T1x1fJ34qAmk2tNTrN7Up6","name":"get_weather","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\\"location\\":"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":" \\"San Francisco, CA\\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":89}}

event: message_stop
data: {"type":"message_stop"}

`;

describe("A model with the Messages API", () => {
  it("A stream in the layout of Anthropic's documentation is parsed", async () => {
    const peer = await startPeer((response) => {
      response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
      response.end(DOCUMENTED);
    });
    const model = anthropic({ model: "claude-opus-4-1", key: "sk-ant-1", baseUrl: peer.url });
    expect(await ask(model)).toMatchObject({
      text: "Okay, let's check.",
      toolCalls: [{ name: "get_weather", input: { location: "San Francisco, CA" } }],
      usage: { inputTokens: 472, outputTokens: 89 },
      end: { outcome: "action-required", reason: "tool_use" },
      diagnostics: [],
      unknown: [],
    });
    const [request] = peer.requests;
    expect(request).toMatchObject({
      url: "/v1/messages",
      headers: { "x-api-key": "sk-ant-1", "anthropic-version": "2023-06-01" },
    });
    expect(JSON.parse(String(request?.body))).toMatchObject({
      model: "claude-opus-4-1",
      stream: true,
    });
  });

  it("An error inside the stream fails the turn with its cause", async () => {
    const peer = await startPeer((response) => {
      response.writeHead(200, { "content-type": "text/event-stream", "request-id": "req_1" });
      response.write(DOCUMENTED.slice(0, DOCUMENTED.indexOf("event: content_block_stop")));
      response.end(
        'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
      );
    });
    const model = anthropic({ model: "m", key: "sk-ant-1", baseUrl: peer.url });
    expect(await ask(model, HELLO)).toMatchObject({
      text: "Okay, let's check.",
      end: {
        outcome: "failed",
        failure: {
          code: "service_failed",
          message: "overloaded_error: Overloaded",
          details: { type: "overloaded_error", phase: "stream", requestId: "req_1" },
        },
      },
    });
    expect(peer.requests).toHaveLength(1);
  });
});
