import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { DEFAULT_SERVE_CONFIG } from "../../src/config/default-serve-config.ts";
import { defineAgent } from "../../src/bridge/agent/define-agent.ts";
import { serveBridge } from "../../src/bridge/serve/serve-bridge.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import { says, createScriptedProvider, wants } from "../support/session/scripted-provider.ts";
import { createTemporaryFolder } from "../support/session/test-workspace.ts";

const look = defineTool({
  name: "look",
  description: "Looks",
  input: { type: "object" },
  run: () => "18 degrees",
});

const USES_ITS_TOOL = [wants({ id: "tooluse_1", name: "look" }), says("It is warm.")];
const USES_THE_CALLERS = [wants({ id: "tooluse_1", name: "feel" }), says("So it is.")];

/** A bridge with a new data directory. */
async function served(): Promise<string> {
  const answers = [
    ...USES_ITS_TOOL,
    ...USES_ITS_TOOL,
    ...USES_ITS_TOOL,
    ...USES_ITS_TOOL,
    ...USES_ITS_TOOL,
    ...USES_THE_CALLERS,
  ];
  const provider = createScriptedProvider(answers, { capabilities: { tools: true } });
  const approvals = { default: "allow" } as const;
  const agent = defineAgent({ name: "scripted", provider, tools: [look], approvals });
  const bridge = await serveBridge(
    {
      directory: join(createTemporaryFolder(), "data"),
      version: "1",
      clock: systemClock,
      agents: async () => ({ agents: [agent], close: async () => {} }),
      serving: { ...DEFAULT_SERVE_CONFIG, deterministic: true },
      port: 0,
      report: (error) => {
        throw error;
      },
    },
    { portal: false },
  );
  onTestFinished(() => bridge.close());
  return bridge.url;
}

async function run(): Promise<string[]> {
  const url = await served();
  const bodies: string[] = [];
  const send = async (path: string, body?: object): Promise<string> => {
    const answer = await fetch(`${url}/v1${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    expect([answer.status, text]).toEqual([200, text]);
    bodies.push(text);
    return text;
  };
  const messages = [{ role: "user", content: "How warm is it?" }];
  const first = JSON.parse(await send("/responses", { input: messages }));
  const previous = { previous_response_id: first.id };
  await send("/responses", { input: messages, stream: true, ...previous });
  await send("/chat/completions", { messages });
  await send("/chat/completions", { messages, stream: true });
  await send("/inference", { messages });
  const tools = [{ type: "function", name: "feel" }];
  const paused = JSON.parse(await send("/responses", { input: messages, tools }));
  const { call_id } = paused.output.at(-1);
  const result = { type: "function_call_output", call_id, output: "yes" };
  await send("/responses", { input: [result], previous_response_id: paused.id });
  await send(`/responses/${first.id}`);
  await send(`/responses/${first.id}/input_items`);
  const conversation = JSON.parse(await send("/conversations", {}));
  await send(`/conversations/${conversation.id}`);
  await send(`/conversations/${first.session_id}/items`);
  await send("/responses/compact", { model: "scripted", input: messages });
  return bodies;
}

it("Deterministic serving returns the same bodies in every run without earlier sessions, also with tool calls [OR-78]", async () => {
  const [first, second] = [await run(), await run()];
  expect(second).toEqual(first);
  expect(first[1]).toContain("mcp_call");
  expect(first[3]).toContain("18 degrees");
});
