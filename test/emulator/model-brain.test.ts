import { describe, expect, it, onTestFinished } from "vitest";
import { createToolSuccess } from "../../src/domain/tools/tool-call.ts";
import { buildTurn } from "../../src/domain/provider/turn.ts";
import { emulate } from "../../src/emulator/emulate-agentcore.ts";
import { TEST_CREDENTIALS } from "../../src/emulator/emulator-options.ts";
import { harnessProvider } from "../../src/providers/agentcore/harness-provider.ts";
import { startPeer, type PeerResponder } from "../support/server/scripted-peer.ts";
import { gather } from "../support/session/provider-session.ts";
import { encodeServerSent } from "../support/bytes/encode-server-sent.ts";

const { signal } = new AbortController();
const LOOK = {
  name: "look",
  description: "Looks something up",
  schema: { type: "object", properties: { what: { type: "string" } } },
};

/** An emulator whose harness uses a model behind an OpenAI-compatible endpoint. */
async function thinking(answer: PeerResponder) {
  const door = await startPeer(answer);
  const emulator = await emulate({
    brain: "model:openai:small",
    environment: { OPENAI_BASE_URL: `${door.url}/v1`, OPENAI_API_KEY: "key" },
  });
  onTestFinished(() => emulator.close());
  const session = harnessProvider({
    harnessArn: emulator.demoArn,
    endpoint: emulator.url,
    credentials: TEST_CREDENTIALS,
    overrides: { systemPrompt: "Be brief.", maxTokens: 50 },
  }).open();
  return { door, session };
}

function chunk(delta: object, finish: string | null = null): object {
  return { choices: [{ index: 0, delta, finish_reason: finish }] };
}

describe("A harness with a real model", () => {
  it("The model calls our tool, gets its result and answers with the whole conversation", async () => {
    const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
    const { door, session } = await thinking((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const call = {
        index: 0,
        id: "functions.look:0",
        type: "function",
        function: { name: "look", arguments: '{"what":"shoes"}' },
      };
      const isFirst = door.requests.length === 1;
      response.end(
        isFirst
          ? encodeServerSent(
              chunk({ role: "assistant", content: "Let me look." }),
              chunk({ tool_calls: [call] }),
              chunk({}, "tool_calls"),
              { choices: [], usage },
              "[DONE]",
            )
          : encodeServerSent(
              chunk({ content: "Two pairs." }),
              chunk({}, "stop"),
              { choices: [], usage },
              "[DONE]",
            ),
      );
    });
    const first = buildTurn(
      await gather(
        await session.invoke(
          { type: "prompt", texts: ["Which shoes?"] },
          { signal, tools: [LOOK] },
        ),
      ),
    );
    expect(first).toMatchObject({
      text: "Let me look.",
      toolCalls: [{ name: "look", input: { what: "shoes" } }],
      end: { outcome: "action-required", usage: { inputTokens: 7, outputTokens: 3 } },
    });
    const [call] = first.toolCalls;
    const results = [createToolSuccess(call?.id ?? "", { pairs: 2 })];
    const second = buildTurn(
      await gather(
        await session.invoke({ type: "results", turn: first, results }, { signal, tools: [LOOK] }),
      ),
    );
    expect([second.text, second.end?.outcome]).toEqual(["Two pairs.", "completed"]);
    const { messages, tools, model } = JSON.parse(String(door.requests[1]?.body));
    expect(model).toBe("small");
    expect(tools).toMatchObject([{ function: { name: "look", parameters: LOOK.schema } }]);
    expect(messages).toMatchObject([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Which shoes?" },
      {
        role: "assistant",
        content: "Let me look.",
        tool_calls: [{ id: call?.id, function: { name: "look" } }],
      },
      { role: "tool", tool_call_id: call?.id },
    ]);
  });

  it("A model failure fails the turn like a failure of the agent", async () => {
    const { session } = await thinking((response) => {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: "prompt is too long", type: "invalid" } }));
    });
    const call = await session.invoke({ type: "prompt", texts: ["Hi"] }, { signal });
    const { end } = buildTurn(await gather(call));
    expect(end).toMatchObject({
      outcome: "failed",
      failure: { code: "agent_failed", details: { problem: "context-overflow" } },
    });
  });
});
