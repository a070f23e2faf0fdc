import { describe, expect, it, onTestFinished } from "vitest";
import { isObject } from "../../../src/data/json.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import type { Agent } from "../../../src/session/runtime/agent/agent.ts";
import { connectAcpClient, readText, USER, type AcpClient } from "../../support/acp/acp-client.ts";
import { createPolicy } from "../../support/session/create-policy.ts";
import {
  hangs,
  says,
  createScriptedProvider,
  wants,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";
import { createAgent, openSessions, createTool } from "../../support/session/session-world.ts";
import { WRITE_CALL, WRITE_TRAITS } from "../../support/session/writing-agent.ts";

const SETUP = { cwd: "/work", mcpServers: [] };
const READS = { kind: "read", sideEffect: "read_only" } as const;
const REVIEW = { name: "review", description: "Look at a change", prompt: "Review $ARGUMENTS." };

function world(...answers: readonly ProviderScript[]) {
  const provider = createScriptedProvider(answers);
  const tools = [
    createTool({ name: "read", traits: READS }, () => "Tea"),
    createTool({ name: "write", traits: { ...WRITE_TRAITS, paths: [] } }, () => "written"),
  ];
  const policy = createPolicy([
    ["read", "allow"],
    ["write", "ask"],
  ]);
  const agent: Agent = createAgent({ provider, tools, policy, commands: [REVIEW] });
  const sessions = openSessions(createMemoryStore(), agent);
  onTestFinished(() => sessions.close());
  return { sessions, provider };
}

const prompt = (sessionId: unknown, text: string) => ({
  sessionId,
  prompt: [{ type: "text", text }],
});

/** The text sent in reply to a prompt. Fails unless the turn ended normally. */
async function typed(client: AcpClient, sessionId: unknown, text: string): Promise<string> {
  const before = client.listUpdates().length;
  const { stopReason } = await client.requestResult("session/prompt", prompt(sessionId, text));
  expect(stopReason).toBe("end_turn");
  return client
    .listUpdates()
    .slice(before)
    .flatMap(({ sessionUpdate, content }) =>
      sessionUpdate === "agent_message_chunk" && isObject(content)
        ? [readText(content["text"])]
        : [],
    )
    .join("");
}

describe("List of slash commands", () => {
  it.each(["new", "load", "resume", "fork"])(
    "The list is sent directly after the response to session/%s [ACP-43]",
    async (method) => {
      const { sessions } = world();
      const { sessionId } = await sessions.open({ principal: USER });
      const client = await connectAcpClient(sessions);
      await client.request("initialize");
      await client.requestResult(`session/${method}`, { ...SETUP, sessionId });
      await client.waitForMessage(({ params }) =>
        JSON.stringify(params ?? {}).includes("availableCommands"),
      );
      const at = client.messages.findIndex(({ id }) => id === 2);
      const told = client.messages.map(({ params }) => JSON.stringify(params ?? {}));
      expect(told.findIndex((one) => one.includes("available_commands_update"))).toBe(at + 1);
      expect(told[at + 1]).toContain('"name":"review"');
    },
  );
});

describe("Bridge command", () => {
  it("/status shows the session, its agent, mode, tokens and clients [ACP-77]", async () => {
    const { sessions, provider } = world();
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    const text = await typed(client, sessionId, "/status");
    expect(text).toContain(`Session: \`${sessionId}\`, idle`);
    expect(text).toContain("Agent: `demo`");
    expect(text).toContain("2 tools");
    expect(text).toContain("Mode: `default`");
    expect(text).toContain("Tokens: not known yet");
    expect(text).toContain("(controller)");
    expect(provider.invocations).toEqual([]);
    expect((await sessions.find(sessionId))?.title).toBe(null);
  });

  it("/tools shows the policy decision for each tool in the current mode [ACP-77]", async () => {
    const { sessions } = world();
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    expect((await typed(client, sessionId, "/tools")).split("\n")).toEqual([
      "- `read` is allowed. Does read",
      "- `write` is subject to approval. Does write",
    ]);
    await typed(client, sessionId, "/mode read-only");
    expect(await typed(client, sessionId, "/tools")).toContain("`write` is denied");
  });

  it("/mode shows the mode and changes it for all clients [ACP-77]", async () => {
    const { sessions } = world();
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    expect(await typed(client, sessionId, "/mode")).toContain("The mode is `default`");
    expect(await typed(client, sessionId, "/mode ask")).toContain("The mode is now `ask`");
    expect((await sessions.status(sessionId)).mode).toBe("ask");
    expect(await typed(client, sessionId, "/mode yolo")).toBe(
      'Mode "yolo" does not exist: expected "default", "ask" or "read-only".',
    );
    await client.waitForMessage(({ params }) =>
      JSON.stringify(params ?? {}).includes("current_mode_update"),
    );
  });

  it("/permissions lists and revokes grants [ACP-77]", async () => {
    const { sessions } = world(wants(WRITE_CALL), says("Well."));
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    expect(await typed(client, sessionId, "/permissions")).toContain("No tool is always allowed");
    const answered = client.request("session/prompt", prompt(sessionId, "Write."));
    const asked = await client.waitForMessage(
      ({ method }) => method === "session/request_permission",
    );
    const outcome = { outcome: "selected", optionId: "allow-always" };
    client.send({ jsonrpc: "2.0", id: asked["id"], result: { outcome } });
    await answered;
    const listed = await typed(client, sessionId, "/permissions");
    const [, grantId = ""] = /`(grant_[^`]+)`/.exec(listed) ?? [];
    expect(await typed(client, sessionId, `/permissions revoke ${grantId}`)).toContain(
      "is revoked",
    );
    expect(await typed(client, sessionId, "/permissions")).toContain("No tool is always allowed");
    expect(await typed(client, sessionId, "/permissions revoke none")).toContain(
      'Grant "none" does not exist',
    );
    expect(await typed(client, sessionId, "/permissions please")).toContain(
      "is not a valid argument",
    );
  });

  it("A command is answered during a turn, and only to its sender [ACP-77]", async () => {
    const { sessions } = world(hangs());
    const [client, other] = [await connectAcpClient(sessions), await connectAcpClient(sessions)];
    const sessionId = await client.newSession();
    await other.request("initialize");
    await other.requestResult("session/load", { ...SETUP, sessionId });
    const running = client.request("session/prompt", prompt(sessionId, "Go."));
    await other.waitForMessage(({ params }) =>
      JSON.stringify(params ?? {}).includes("user_message_chunk"),
    );
    expect(await typed(client, sessionId, "/status")).toContain("running");
    client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    expect((await running)["result"]).toMatchObject({ stopReason: "cancelled" });
    expect(JSON.stringify(other.listUpdates())).not.toContain("Session:");
  });
});

describe("Configured command", () => {
  it("A configured command is expanded for the agent [ACP-77]", async () => {
    const { sessions, provider } = world(says("Reviewed."), says("What?"));
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    expect(await typed(client, sessionId, "/review the last commit")).toBe("Reviewed.");
    expect(JSON.stringify(provider.invocations[0]?.input)).toContain("Review the last commit.");
    expect(await typed(client, sessionId, "/unknown thing")).toBe("What?");
    expect(JSON.stringify(provider.invocations[1]?.input)).toContain("/unknown thing");
  });

  it("A mistyped command is answered with a suggestion and is not sent to the agent [ACP-77]", async () => {
    const { sessions, provider } = world(says("It maps names to addresses."));
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    const reply = await typed(client, sessionId, "/staus");
    expect(reply).toMatch(/^Command "\/staus" does not exist\. Fix: did you mean "\/status"\?/);
    expect(await typed(client, sessionId, "/revew main")).toContain('did you mean "/review"?');
    expect(provider.invocations).toEqual([]);
    const answer = await typed(client, sessionId, "/etc/hosts: explain this file");
    expect(answer).toBe("It maps names to addresses.");
    expect(JSON.stringify(provider.invocations[0]?.input)).toContain("/etc/hosts: explain");
  });
});
