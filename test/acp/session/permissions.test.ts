import { describe, expect, it } from "vitest";
import { isObject } from "../../../src/data/json.ts";
import {
  connectAcpClient,
  readText,
  USER,
  type AcpClient,
  type Message,
} from "../../support/acp/acp-client.ts";
import {
  createScriptedSessions,
  type ScriptedSessions,
} from "../../support/session/scripted-sessions.ts";
import { answeredEvents, askingTurn } from "../../support/acp/scripted-turns.ts";

const SETUP = { cwd: "/work", mcpServers: [] };

interface OpenRequest {
  readonly sessions: ScriptedSessions;
  readonly client: AcpClient;
  readonly sessionId: string;
  readonly turnId: string;
  readonly request: Message;
  readonly answer: Promise<Message>;
}

/** A client whose prompt waits for the approval of a tool. */
async function openRequest(): Promise<OpenRequest> {
  const sessions = createScriptedSessions({ turn: askingTurn });
  const client = await connectAcpClient(sessions);
  const sessionId = await client.newSession();
  const prompt = [{ type: "text", text: "delete a" }];
  const answer = client.request("session/prompt", { sessionId, prompt });
  const request = await client.waitForMessage(isPermission);
  return {
    sessions,
    client,
    sessionId,
    turnId: sessions.readTurnId(sessionId) ?? "",
    request,
    answer,
  };
}

function isPermission({ method }: Message): boolean {
  return method === "session/request_permission";
}

function permissions(client: AcpClient): Message[] {
  return client.messages.filter(isPermission);
}

function reply(client: AcpClient, to: Message, fields: object): void {
  client.send({ jsonrpc: "2.0", id: to["id"], ...fields });
}

function selected(optionId: string): object {
  return { result: { outcome: { outcome: "selected", optionId } } };
}

function answers({ sessions }: OpenRequest): unknown[] {
  return sessions.commands.flatMap(({ command }) =>
    command.type === "decide-approval" ? [command.decision] : [],
  );
}

describe("Tool that requires approval", () => {
  it("A permission request is sent once before the tool runs, with the details of the tool call [B-009]", async () => {
    const { client, sessionId, turnId, request, answer, sessions } = await openRequest();
    expect(request["params"]).toMatchObject({
      sessionId,
      toolCall: { toolCallId: `tool_${turnId}`, title: "rm a", rawInput: { path: "a" } },
      approvalRequest: { id: `tool_${turnId}`, action: "rm a", args: { path: "a" } },
      options: [
        { optionId: "allow", name: "Allow", kind: "allow_once" },
        { optionId: "deny", name: "Deny", kind: "reject_once" },
      ],
    });
    reply(client, request, selected("allow"));
    expect((await sessions.waitForCommand("decide-approval")).decision).toBe("allow");
    sessions.say(sessionId, ...answeredEvents(turnId, "allow"));
    expect((await answer)["result"]).toEqual({ stopReason: "end_turn" });
    expect(
      client.listUpdates().map(({ sessionUpdate, status }) => [sessionUpdate, status]),
    ).toEqual([
      ["session_info_update", undefined],
      ["tool_call", "pending"],
      ["tool_call_update", "in_progress"],
      ["tool_call_update", "completed"],
    ]);
    expect(permissions(client)).toHaveLength(1);
  });

  it("A denied tool call is failed [B-007]", async () => {
    const { client, sessionId, turnId, request, answer, sessions } = await openRequest();
    reply(client, request, selected("deny"));
    expect((await sessions.waitForCommand("decide-approval")).decision).toBe("deny");
    sessions.say(sessionId, ...answeredEvents(turnId, "deny"));
    await answer;
    expect(client.listUpdates().at(-1)).toMatchObject({ status: "failed" });
  });

  it("A method-not-found error denies the tool call [B-011]", async () => {
    const { client, request, sessions } = await openRequest();
    reply(client, request, { error: { code: -32601, message: "Method not found" } });
    expect(await sessions.waitForCommand("decide-approval")).toMatchObject({
      decision: "deny",
      reason: "The client responded with an error: Method not found",
    });
  });

  it.each([
    ["any other error [B-012]", { error: { code: -32603, message: "Internal error" } }],
    ["a malformed error", { error: "no" }],
    ["an option that was not offered [W-01]", selected("always")],
    ["an unknown outcome", { result: { outcome: { outcome: "maybe" } } }],
    ["an empty response", {}],
  ])("The tool call is denied on %s", async (_, fields) => {
    const { client, request, sessions } = await openRequest();
    reply(client, request, fields);
    expect((await sessions.waitForCommand("decide-approval")).decision).toBe("deny");
  });

  it("A response with another id does not approve the tool call [B-008]", async () => {
    const all = await openRequest();
    const { client, request } = all;
    for (const id of [null, 0, 1, "1", `${readText(request["id"])}0`]) {
      client.send({ jsonrpc: "2.0", id, ...selected("allow") });
    }
    await client.request("initialize");
    expect(answers(all)).toEqual([]);
  });

  it("Only the first response to a request counts [W-39]", async () => {
    const all = await openRequest();
    const { client, request } = all;
    reply(client, request, selected("deny"));
    reply(client, request, selected("allow"));
    await client.request("initialize");
    await all.sessions.waitForCommand("decide-approval");
    expect(answers(all)).toEqual(["deny"]);
  });

  it("Requests of different sessions have different ids [W-39]", async () => {
    const { client, request } = await openRequest();
    const { sessionId } = await client.requestResult("session/new", SETUP);
    const prompt = [{ type: "text", text: "and b" }];
    client.send({
      jsonrpc: "2.0",
      id: "p",
      method: "session/prompt",
      params: { sessionId, prompt },
    });
    const other = await client.waitForMessage((one) => isPermission(one) && one !== request);
    expect(other["id"]).not.toBe(request["id"]);
    expect(typeof other["id"]).toBe("string");
  });

  it("The request stays open when its client disconnects and is sent to the next client [B-013] [ACP-97] [ACP-101]", async () => {
    const all = await openRequest();
    const { client, sessions, sessionId, turnId } = all;
    client.socket.destroy();
    await client.done;
    expect(answers(all)).toEqual([]);
    expect(sessions.readTurnId(sessionId)).toBe(turnId);
    const next = await connectAcpClient(sessions);
    await next.request("initialize");
    await next.requestResult("session/load", { sessionId, ...SETUP });
    const again = await next.waitForMessage(isPermission);
    expect(next.messages.indexOf(again)).toBe(next.messages.length - 1);
    reply(next, again, selected("allow"));
    expect((await sessions.waitForCommand("decide-approval")).decision).toBe("allow");
  });

  it("A decided request is not sent again [W-36]", async () => {
    const { client, request, sessions, sessionId, turnId, answer } = await openRequest();
    reply(client, request, selected("allow"));
    await sessions.waitForCommand("decide-approval");
    sessions.say(sessionId, ...answeredEvents(turnId, "allow"));
    await answer;
    const next = await connectAcpClient(sessions);
    await next.request("initialize");
    await next.requestResult("session/load", { sessionId, ...SETUP });
    await next.request("initialize");
    expect(permissions(next)).toEqual([]);
  });

  it("A load by the same client does not repeat the request", async () => {
    const { client, request, sessions, sessionId } = await openRequest();
    await client.requestResult("session/load", { sessionId, ...SETUP });
    await client.request("initialize");
    expect(permissions(client)).toEqual([request]);
    reply(client, request, selected("allow"));
    expect((await sessions.waitForCommand("decide-approval")).decision).toBe("allow");
  });

  it("The request is withdrawn when another client has decided [ACP-101]", async () => {
    const all = await openRequest();
    const { client, request, sessions, sessionId } = all;
    const other = await connectAcpClient(sessions);
    await other.request("initialize");
    await other.requestResult("session/load", { sessionId, ...SETUP });
    const approvalId = `appr_${all.turnId}`;
    const decided = { type: "decide-approval", approvalId, decision: "deny" } as const;
    await sessions.command(sessionId, decided, { principal: USER });
    const taken = await client.waitForMessage(({ method }) => method === "$/cancel_request");
    expect(taken["params"]).toEqual({ requestId: request["id"] });
    reply(client, request, selected("allow"));
    await client.request("initialize");
    expect(answers(all)).toEqual(["deny"]);
    expect(permissions(other)).toEqual([]);
  });

  it("A client without the approve right receives no request", async () => {
    const { sessions, sessionId } = await openRequest();
    const watcher = await connectAcpClient(sessions, {
      principal: { id: "user", rights: ["prompt"] },
    });
    await watcher.request("initialize");
    await watcher.requestResult("session/load", { sessionId, ...SETUP });
    await watcher.request("initialize");
    expect(permissions(watcher)).toEqual([]);
  });

  it("A cancelled outcome ends the turn without running the tool [ACP-98]", async () => {
    const all = await openRequest();
    const { client, request, answer, turnId, sessions } = all;
    reply(client, request, { result: { outcome: { outcome: "cancelled" } } });
    expect((await answer)["result"]).toEqual({ stopReason: "cancelled" });
    expect(sessions.commands.map(({ command }) => command)).toContainEqual({
      type: "cancel",
      turnId,
    });
    expect(answers(all)).toEqual([]);
  });

  it("A cancelled turn closes the tool call and withdraws its request [ACP-91] [ACP-109]", async () => {
    const { client, sessions, sessionId, turnId, answer } = await openRequest();
    const approvalId = `appr_${turnId}`;
    sessions.say(sessionId, {
      type: "approval.resolved",
      approvalId,
      decision: "deny",
      resolvedBy: "cancel",
    });
    client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    expect((await answer)["result"]).toEqual({ stopReason: "cancelled" });
    expect(client.listUpdates().at(-1)).toMatchObject({ status: "failed" });
    expect(client.messages.some(({ method }) => method === "$/cancel_request")).toBe(true);
  });
});

describe("Other questions", () => {
  async function question(kind: "outcome" | "lost-invocation"): Promise<OpenRequest> {
    const sessions = createScriptedSessions({
      turn: (turn) =>
        turn.say({
          type: "approval.requested",
          approvalId: `appr_${turn.turnId}`,
          question: kind,
          options:
            kind === "outcome"
              ? ["run-again", "deny", "done", "failed"]
              : ["continue", "reseed", "stop"],
          subjectId: "x_1",
          action: "rm a",
          input: null,
          deadline: 0,
        }),
    });
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    const answer = client.request("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: "a" }],
    });
    const request = await client.waitForMessage(isPermission);
    return {
      sessions,
      client,
      sessionId,
      turnId: sessions.readTurnId(sessionId) ?? "",
      request,
      answer,
    };
  }

  it("A question about an interrupted tool offers the possible outcomes", async () => {
    const { client, request, sessions } = await question("outcome");
    expect(options(request)).toEqual(["run-again", "deny", "done", "failed"]);
    reply(client, request, selected("run-again"));
    expect((await sessions.waitForCommand("decide-approval")).decision).toBe("run-again");
  });

  it("A method-not-found error leaves the outcome of an interrupted tool unknown [B-011]", async () => {
    const all = await question("outcome");
    reply(all.client, all.request, { error: { code: -32601, message: "no" } });
    expect((await all.sessions.waitForCommand("decide-approval")).decision).toBe("deny");
  });

  it("A question about a lost invocation offers ways to continue, and an error stops the turn", async () => {
    const { client, request, sessions } = await question("lost-invocation");
    expect(options(request)).toEqual(["continue", "reseed", "stop"]);
    reply(client, request, { error: { code: -32601, message: "no" } });
    expect((await sessions.waitForCommand("decide-approval")).decision).toBe("stop");
  });
});

function options({ params }: Message): unknown {
  const list = isObject(params) ? params["options"] : undefined;
  return Array.isArray(list)
    ? list.map((one: unknown) => (isObject(one) ? one["optionId"] : undefined))
    : undefined;
}
