import { describe, expect, it } from "vitest";
import { openAiCompatible } from "../../src/models/openai-compatible.ts";
import { startPeer, type PeerResponder } from "../support/server/scripted-peer.ts";
import { ask, eventsOf, HELLO } from "./run-model.ts";

const SSE = "text/event-stream";

/** A tool call in the layout of OpenAI's API reference, with every documented member. Written by hand, not recorded. */
const OPENAI = `data: {"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini","service_tier":"default","system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_abc123","type":"function","function":{"name":"get_weather","arguments":""}}],"refusal":null},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"x1"}

data: {"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini","service_tier":"default","system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\\"location\\":"}}]},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"a"}

data: {"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini","service_tier":"default","system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\\"Boston\\"}"}}]},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":""}

data: {"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini","service_tier":"default","system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"tool_calls"}],"usage":null,"obfuscation":"sd"}

data: {"id":"chatcmpl-123","object":"chat.completion.chunk","created":1694268190,"model":"gpt-4o-mini","service_tier":"default","system_fingerprint":"fp_44709d6fcb","choices":[],"usage":{"prompt_tokens":53,"completion_tokens":17,"total_tokens":70,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}},"obfuscation":"q"}

data: [DONE]

`;

/**
 * The layout reported for Ollama (ollama/ollama#4357, #15457): the role in every chunk, reasoning in a separate field,
 * complete tool calls which all have the index 0.
 */
const OLLAMA = `data: {"id":"chatcmpl-745","object":"chat.completion.chunk","created":1,"model":"qwen3","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":"Two files."},"finish_reason":null}]}

data: {"id":"chatcmpl-745","object":"chat.completion.chunk","created":1,"model":"qwen3","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":"","tool_calls":[{"id":"call_a","index":0,"type":"function","function":{"name":"write","arguments":"{\\"path\\":\\"a\\"}"}}]},"finish_reason":null}]}

data: {"id":"chatcmpl-745","object":"chat.completion.chunk","created":1,"model":"qwen3","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":"","tool_calls":[{"id":"call_b","index":0,"type":"function","function":{"name":"write","arguments":"{\\"path\\":\\"b\\"}"}}]},"finish_reason":null}]}

data: {"id":"chatcmpl-745","object":"chat.completion.chunk","created":1,"model":"qwen3","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"tool_calls"}]}

data: {"id":"chatcmpl-745","object":"chat.completion.chunk","created":1,"model":"qwen3","system_fingerprint":"fp_ollama","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":8,"total_tokens":20}}

data: [DONE]

`;

/**
 * The layout reported for vLLM (vllm-project/vllm#45678): additional members, most of them null, and usage in every
 * chunk.
 */
const VLLM = `data: {"id":"chatcmpl-9","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null,"token_ids":null}],"prompt_token_ids":null,"usage":{"prompt_tokens":5,"total_tokens":5,"completion_tokens":0}}

data: {"id":"chatcmpl-9","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"reasoning_content":"hm"},"logprobs":null,"finish_reason":null,"token_ids":null}],"usage":{"prompt_tokens":5,"total_tokens":6,"completion_tokens":1}}

data: {"id":"chatcmpl-9","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hi","reasoning_content":null},"logprobs":null,"finish_reason":"stop","stop_reason":null,"token_ids":null}],"usage":{"prompt_tokens":5,"total_tokens":7,"completion_tokens":2}}

data: {"id":"chatcmpl-9","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":5,"total_tokens":7,"completion_tokens":2}}

data: [DONE]

`;

function streaming(body: string): PeerResponder {
  return (response) => {
    response.writeHead(200, { "content-type": SSE });
    response.end(body);
  };
}

describe("A model with chat completions", () => {
  it("A stream in the layout of OpenAI's reference is parsed", async () => {
    const peer = await startPeer(streaming(OPENAI));
    const turn = await ask(openAiCompatible({ model: "gpt-4o-mini", baseUrl: `${peer.url}/v1` }));
    expect(turn).toMatchObject({
      toolCalls: [{ id: "call_abc123", name: "get_weather", input: { location: "Boston" } }],
      usage: { inputTokens: 53, outputTokens: 17, totalTokens: 70 },
      end: { outcome: "action-required", openToolCallIds: ["call_abc123"] },
      diagnostics: [],
      unknown: [],
    });
  });

  it("A stream in the layout of Ollama is parsed", async () => {
    const peer = await startPeer(streaming(OLLAMA));
    const turn = await ask(openAiCompatible({ model: "qwen3", baseUrl: `${peer.url}/v1/` }));
    expect(turn).toMatchObject({
      messages: [{ blocks: [{ type: "reasoning", text: "Two files." }, {}, {}] }],
      toolCalls: [
        { id: "call_a", input: { path: "a" } },
        { id: "call_b", input: { path: "b" } },
      ],
      diagnostics: [],
    });
  });

  it("A stream in the layout of vLLM is parsed", async () => {
    const peer = await startPeer(streaming(VLLM));
    const turn = await ask(openAiCompatible({ model: "m", baseUrl: peer.url }));
    expect(turn).toMatchObject({
      text: "Hi",
      usage: { inputTokens: 5, outputTokens: 2, totalTokens: 7 },
      end: { outcome: "completed" },
      diagnostics: [],
      unknown: [],
    });
  });

  it("The request equals that of an OpenAI client, with the key as bearer token", async () => {
    const peer = await startPeer(streaming(VLLM));
    const model = openAiCompatible({
      model: "m",
      baseUrl: `${peer.url}/openai?api-version=1`,
      key: "sk-1\n",
      headers: { "x-team": "blue" },
      body: { reasoning_effort: "low" },
    });
    await eventsOf(model, { ...HELLO, maxTokens: 5 });
    const [request] = peer.requests;
    expect(request).toMatchObject({
      method: "POST",
      url: "/openai/chat/completions?api-version=1",
      headers: {
        authorization: "Bearer sk-1",
        "content-type": "application/json",
        accept: SSE,
        "x-team": "blue",
      },
    });
    expect(JSON.parse(String(request?.body))).toEqual({
      model: "m",
      messages: [{ role: "user", content: "Hello" }],
      max_tokens: 5,
      stream: true,
      stream_options: { include_usage: true },
      reasoning_effort: "low",
    });
  });

  it("No authorization header is sent without a key", async () => {
    const peer = await startPeer(streaming(VLLM));
    await ask(openAiCompatible({ model: "m", baseUrl: peer.url }));
    expect(peer.requests[0]?.headers.authorization).toBeUndefined();
  });

  it.each(["ftp://host/v1", "localhost:11434", ""])("The base URL %j is refused", (baseUrl) => {
    expect(() => openAiCompatible({ model: "m", baseUrl })).toThrowError(
      expect.objectContaining({ code: "invalid_option", details: { path: "baseUrl" } }),
    );
  });

  it("A key that cannot be a header value is refused and not shown", () => {
    const make = () => openAiCompatible({ model: "m", baseUrl: "http://host", key: "sk-1\nsk-2" });
    expect(make).toThrowError(expect.objectContaining({ code: "invalid_option" }));
    expect(make).not.toThrowError(/sk-/);
  });
});
