import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { defineAgent } from "../../../src/bridge/agent/define-agent.ts";
import { runtimeProvider } from "../../../src/providers/agentcore/runtime-provider.ts";
import { startPeer } from "../../support/server/scripted-peer.ts";
import { TEST_KEYS } from "../../support/session/provider-session.ts";
import { serveSessions } from "../support/serve-sessions.ts";
import { send } from "../support/serve-answers.ts";

const RUNTIME = "arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/agent-a1b2c3d4e5";

/** Strings from the Python `repr` of an agent, none of which the agent sends as text. */
const NOISE =
  /You are a test agent|system_prompt|tool_config|toolSpec|inputSchema|object at 0x|event_loop_cycle|Agent object|EventLoopMetrics/;

/** A server over an agent which streams these bytes for every prompt. */
async function served(body: string) {
  const peer = await startPeer((response) => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    response.end(body);
  });
  const options = { runtimeArn: RUNTIME, endpoint: peer.url, credentials: TEST_KEYS };
  const agents = [defineAgent({ name: "noisy", provider: runtimeProvider(options) })];
  return serveSessions({ agents });
}

/** Every response which a client can get for a turn: all routes in all trace modes. */
async function listSentTexts(body: string): Promise<string[]> {
  const server = await served(body);
  const texts: string[] = [];
  const take = async (
    ...request: Parameters<typeof send> extends [unknown, ...infer R] ? R : never
  ) => {
    const answer = await send(server, ...request);
    expect(answer.status).toBe(200);
    texts.push(answer.text, JSON.stringify([...answer.headers]));
    return answer.json;
  };
  const messages = [{ role: "user", content: "Hi" }];
  for (const stream of [false, true]) {
    for (const trace of ["pairs", "mcp", "extension", "none"])
      await take(["POST", "/responses"], { body: { input: "Hi", stream, trace } });
    await take(["POST", "/chat/completions"], { body: { messages, stream } });
  }
  await take(["POST", "/inference"], { body: { messages } });
  const { id, session_id } = await take(["POST", "/responses"], { body: { input: "Hi" } });
  await take(["GET", `/responses/${id}`]);
  await take(["GET", `/responses/${id}?stream=true`]);
  await take(["GET", `/responses/${id}/input_items`]);
  await take(["GET", `/conversations/${session_id}/items`]);
  texts.push(...server.lines);
  return texts;
}

function recording(file: string): string {
  return readFileSync(new URL(`../../fixtures/strands/${file}`, import.meta.url), "utf8");
}

const NOISY = readdirSync(new URL("../../fixtures/strands", import.meta.url)).filter(
  (file) => file.endsWith(".sse") && NOISE.test(recording(file)),
);

describe("Python repr output of an agent", () => {
  it.each(["py-tool-turn.sse", "py-old-tool-turn.sse"])(
    "The repr of the agent reaches no client, and the text of the agent does: %s [AC-95]",
    async (file) => {
      const recorded = recording(file);
      expect(recorded).toMatch(NOISE);
      const texts = await listSentTexts(recorded);
      for (const text of texts) expect(text).not.toMatch(NOISE);
      const [whole = ""] = texts;
      expect(JSON.parse(whole)).toMatchObject({ status: "completed" });
      expect(whole).toContain("It's sunny in Tokyo");
    },
  );

  it.each(NOISY)(
    "The repr of the agent reaches no client in any recording: %s [AC-95]",
    async (file) => {
      const server = await served(recording(file));
      for (const stream of [false, true]) {
        const body = { input: "Hi", stream };
        expect((await send(server, ["POST", "/responses"], { body })).text).not.toMatch(NOISE);
      }
    },
  );

  it("A repr line of unknown form reaches no client [AC-95]", async () => {
    const strange = `data: "{'system_prompt': 'You are a test agent', 'tool_config': [{'toolSpec': <Agent object at 0x7f>"\n\n`;
    const lines = recording("py-tool-turn.sse").split(/(?<=\n\n)/);
    const texts = await listSentTexts(
      [strange, ...lines.slice(0, 3), strange, ...lines.slice(3)].join(""),
    );
    for (const text of texts) expect(text).not.toMatch(NOISE);
  });
});
