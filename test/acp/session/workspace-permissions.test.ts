import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { defineAgent } from "../../../src/bridge/agent/define-agent.ts";
import { isObject, type JsonValue } from "../../../src/data/json.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import { workspaceTools } from "../../../src/tools/workspace/workspace-tools.ts";
import { connectAcpClient, readText, type Message } from "../../support/acp/acp-client.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { says, createScriptedProvider, wants } from "../../support/session/scripted-provider.ts";
import { openSessions } from "../../support/session/session-world.ts";
import { createTestWorkspace } from "../../support/session/test-workspace.ts";
import { readResults } from "../../support/session/writing-agent.ts";

const SAID = { path: "./src/../src/new.txt", content: "new\n" };

/** A client, and an agent with a call of `write_file`, with all real parts in between. */
async function openRequest() {
  const { root, write } = createTestWorkspace();
  write("src/old.txt", "old");
  const provider = createScriptedProvider([
    wants({ id: "c1", name: "write_file", input: SAID }),
    says("Well."),
  ]);
  const agent = defineAgent({
    name: "coder",
    provider,
    tools: workspaceTools({ root, protectedFolders: [] }),
    workspace: { root },
    mutationScope: "apply_workspace",
    approvalSeconds: 60,
  });
  const clock = createFakeClock();
  const store = createMemoryStore();
  const sessions = openSessions(store, agent, clock);
  onTestFinished(() => sessions.close());
  const client = await connectAcpClient(sessions);
  await client.request("initialize", { protocolVersion: 1 });
  const setup = { cwd: root, mcpServers: [] };
  const sessionId = readText((await client.requestResult("session/new", setup))["sessionId"]);
  const prompt = [{ type: "text", text: "Write." }];
  const turn = client.request("session/prompt", { sessionId, prompt });
  const request = await client.waitForMessage(isPermission);
  const reply = (fields: object): void =>
    client.send({ jsonrpc: "2.0", id: request["id"], ...fields });
  const written = (path: string): string | undefined =>
    existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : undefined;
  const log = async () => (await store.read(sessionId, 0, 1000)).map(({ event }) => event);
  return { root, provider, client, clock, sessionId, setup, turn, request, reply, written, log };
}

function isPermission({ method }: Message): boolean {
  return method === "session/request_permission";
}

function selected(optionId?: string): object {
  return {
    result: { outcome: { outcome: "selected", ...(optionId !== undefined && { optionId }) } },
  };
}

function membersOf(value: JsonValue | undefined): { readonly [name: string]: JsonValue } {
  return isObject(value) ? value : {};
}

describe("Permission request for a workspace tool", () => {
  it("The request contains the resolved facts about the tool call [ACP-94] [ACP-95] [B-091] [B-100] [B-102] [B-104] [B-107]", async () => {
    const { request, clock, reply, turn } = await openRequest();
    const params = membersOf(request["params"]);
    expect(params).toMatchObject({
      toolCall: { title: "write_file", kind: "edit", rawInput: SAID },
      declaredPaths: ["src/new.txt"],
      mutation: { mutation_scope: "apply_workspace" },
      policyDecision: { type: "harn.permission_policy_decision.v1", action: "ask" },
      approvalRequest: {
        action: "write_file",
        args: SAID,
        principal: "coder",
        requested_at: new Date(clock.now()).toISOString(),
        deadline: new Date(clock.now() + 60_000).toISOString(),
        approvers_required: 1,
        evidence_refs: expect.arrayContaining([
          {
            kind: "workspace_path",
            ref: "src/new.txt",
            metadata: { workspace_path: "src/new.txt" },
          },
        ]),
        capabilities_requested: ["workspace.write_text"],
      },
    });
    expect(
      membersOf(membersOf(params["approvalRequest"])["undo_metadata"])["policy_decision"],
    ).toEqual(params["policyDecision"]);
    const options = params["options"];
    expect(Array.isArray(options) ? options.map((one) => membersOf(one)["kind"]) : []).toEqual([
      "allow_once",
      "allow_always",
      "reject_once",
    ]);
    reply(selected("deny"));
    await turn;
  });

  it.each([
    ["the allowing option [ACP-96]", selected("allow")],
    ["the always-allowing option [ACP-96]", selected("allow-always")],
    ["a bare selected [B-113] [ACP-96]", selected()],
    ["granted [B-114] [ACP-96]", { result: { granted: true } }],
  ])("The tool runs on %s, and the log has the decision [B-108]", async (_, answer) => {
    const { reply, turn, written, log } = await openRequest();
    reply(answer);
    expect((await turn)["result"]).toEqual({ stopReason: "end_turn" });
    expect(written("src/new.txt")).toBe("new\n");
    const events = await log();
    const resolved = events.find(({ type }) => type === "approval.resolved");
    expect(resolved).toMatchObject({
      resolvedBy: "person",
      decision: expect.stringMatching(/^allow/),
    });
    const order = ["policy.decided", "approval.requested", "approval.resolved", "tool.started"];
    expect(events.flatMap(({ type }) => (order.includes(type) ? [type] : [])).slice(0, 4)).toEqual(
      order,
    );
  });

  it("The tool runs only with the edited arguments [B-115] [ACP-96]", async () => {
    const { reply, turn, written } = await openRequest();
    reply({ result: { granted: true, args: { path: "other.txt", content: "other\n" } } });
    expect((await turn)["result"]).toEqual({ stopReason: "end_turn" });
    expect([written("src/new.txt"), written("other.txt")]).toEqual([undefined, "other\n"]);
  });

  it.each([
    ["the denying option [W-01]", selected("deny")],
    ["an option that was not offered [W-01]", selected("reject_always")],
    ["granted false [B-116]", { result: { granted: false, reason: "Not before noon" } }],
    ["an unknown outcome [B-117]", { result: { outcome: { outcome: "maybe" } } }],
    ["an empty object [B-117]", { result: {} }],
    ["a result that is not an object [B-117]", { result: "yes" }],
    ["method not found", { error: { code: -32_601, message: "Method not found" } }],
    ["an error", { error: { code: -32_603, message: "Internal error" } }],
  ])(
    "The tool does not run on %s, and the agent receives the denial [ACP-97] [ACP-102] [B-109]",
    async (what, answer) => {
      const { reply, turn, written, log, provider } = await openRequest();
      reply(answer);
      expect((await turn)["result"]).toEqual({ stopReason: "end_turn" });
      expect(written("src/new.txt")).toBe(undefined);
      const events = await log();
      expect(events.map(({ type }) => type)).not.toContain("tool.started");
      expect(events.find(({ type }) => type === "approval.resolved")).toMatchObject({
        decision: "deny",
        resolvedBy: "person",
      });
      const [result] = readResults(provider.invocations[1]?.input);
      expect(result?.isError).toBe(true);
      expect(JSON.stringify(result)).toContain("write_file was not run: it was denied");
      const reason = what.startsWith("granted") ? "Not before noon" : "";
      expect(JSON.stringify(result)).toContain(reason);
    },
  );

  it("The tool does not run after the deadline [ACP-97]", async () => {
    const { clock, turn, written, log } = await openRequest();
    clock.advance(60_000);
    expect((await turn)["result"]).toEqual({ stopReason: "end_turn" });
    expect(written("src/new.txt")).toBe(undefined);
    expect((await log()).find(({ type }) => type === "approval.resolved")).toMatchObject({
      decision: "deny",
      resolvedBy: "deadline",
    });
  });

  it("A cancelled outcome ends the turn without running the tool [ACP-98]", async () => {
    const { reply, turn, written, provider } = await openRequest();
    reply({ result: { outcome: { outcome: "cancelled" } } });
    expect((await turn)["result"]).toEqual({ stopReason: "cancelled" });
    expect(written("src/new.txt")).toBe(undefined);
    // The denial is not sent to the agent: the turn ends without another invocation.
    expect(provider.invocations).toHaveLength(1);
  });

  it("An open request does not delay other sessions of its client [ACP-103]", async () => {
    const { client, setup, reply, turn, request } = await openRequest();
    const sessionId = readText((await client.requestResult("session/new", setup))["sessionId"]);
    const prompt = [{ type: "text", text: "Hello." }];
    expect(await client.requestResult("session/prompt", { sessionId, prompt })).toEqual({
      stopReason: "end_turn",
    });
    expect(client.listUpdates(sessionId)).toMatchObject([
      { sessionUpdate: "session_info_update" },
      { sessionUpdate: "agent_message_chunk" },
    ]);
    expect(client.messages.filter(isPermission)).toEqual([request]);
    reply(selected("deny"));
    await turn;
  });
});
