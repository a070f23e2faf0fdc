import { describe, expect, it } from "vitest";
import { isObject } from "../../../src/data/json.ts";
import type { Sessions } from "../../../src/session/sessions.ts";
import { connectAcpClient, readText, type AcpClient } from "../../support/acp/acp-client.ts";
import { createGate } from "../../support/gate.ts";
import { createSavingSessions } from "../../support/session/saving-sessions.ts";
import {
  createTurnEnd,
  hangs,
  says,
  wants,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";

const SETUP = { cwd: "/work", mcpServers: [] };

/** Streams these pieces, each when its promise resolves. */
function pieces(...gatedPieces: readonly (readonly [string, Promise<void>])[]): ProviderScript {
  return async function* () {
    yield { type: "message.start", message: 0, role: "assistant" };
    for (const [text, until] of gatedPieces) {
      await until;
      yield { type: "text.delta", message: 0, block: 0, text };
    }
    const text = gatedPieces.map(([piece]) => piece).join("");
    yield { type: "text.end", message: 0, block: 0, text };
    yield { type: "message.end", message: 0, reason: "end_turn" };
    yield createTurnEnd({ outcome: "completed", reason: "end_turn" });
  };
}

async function begun(sessions: Sessions): Promise<{ client: AcpClient; sessionId: string }> {
  const client = await connectAcpClient(sessions);
  await client.request("initialize", { clientCapabilities: { _meta: { harn: {} } } });
  const { sessionId } = await client.requestResult("session/new", SETUP);
  return { client, sessionId: readText(sessionId) };
}

function prompt(sessionId: string, text: string): unknown {
  return { sessionId, prompt: [{ type: "text", text }] };
}

function texts(client: AcpClient): string[] {
  return client
    .listUpdates()
    .flatMap(({ sessionUpdate, content }) =>
      sessionUpdate === "agent_message_chunk" && isObject(content)
        ? [readText(content["text"])]
        : [],
    );
}

function methods(client: AcpClient, methodName: string): number {
  return client.messages.filter(({ method }) => method === methodName).length;
}

describe("Client that attaches during a turn", () => {
  it.each([
    ["session/attach", { clientId: "editor", mode: "controller" }],
    ["session/attach", { clientId: "editor", mode: "observer" }],
    ["session/takeover", { clientId: "editor" }],
  ])("No update is lost or repeated: %s %j [ACP-124]", async (method, expected) => {
    const [first, second] = [createGate(), createGate()];
    const reading = createGate();
    const sessions = createSavingSessions(
      pieces(["one ", Promise.resolve()], ["two ", first.pass()], ["three", second.pass()]),
    );
    let isHeld = false;
    const behind: Sessions = {
      ...sessions,
      agents: sessions.agents,
      async *subscribe(...taken) {
        for await (const batch of sessions.subscribe(...taken)) {
          // The client has received less than the log contains.
          if (isHeld) await reading.pass();
          yield batch;
        }
      },
    };
    const { client, sessionId } = await begun(behind);
    const answer = client.request("session/prompt", prompt(sessionId, "Count"));
    await client.waitForMessage(({ params }) => JSON.stringify(params ?? "").includes("one "));
    isHeld = true;
    first.open();
    await reading.entry;
    const attached = client.requestResult(method, { sessionId, ...expected });
    expect(await attached).toMatchObject({ clients: [{ client_id: "editor" }] });
    reading.open();
    second.open();
    expect((await answer)["result"]).toEqual({ stopReason: "end_turn" });
    expect(texts(client).join("")).toBe("one two three");
    const echoes = client
      .listUpdates()
      .filter(({ sessionUpdate }) => sessionUpdate === "user_message");
    expect(echoes).toEqual([]);
  });

  it("A permission request is sent once and can be decided under the new client id", async () => {
    const sessions = createSavingSessions(
      wants({ id: "c1", name: "save", input: {} }),
      says("Saved."),
    );
    const { client, sessionId } = await begun(sessions);
    const answer = client.request("session/prompt", prompt(sessionId, "Save"));
    const { id } = await client.waitForMessage(
      ({ method }) => method === "session/request_permission",
    );
    const editor = { sessionId, clientId: "editor", mode: "controller" };
    await client.requestResult("session/attach", editor);
    const outcome = { outcome: "selected", optionId: "allow" };
    client.send({ jsonrpc: "2.0", id, result: { outcome } });
    expect((await answer)["result"]).toEqual({ stopReason: "end_turn" });
    expect(methods(client, "session/request_permission")).toBe(1);
    expect(methods(client, "$/cancel_request")).toBe(0);
  });

  it("A permission request is withdrawn when its client becomes an observer and sent again after a takeover [ACP-101]", async () => {
    const sessions = createSavingSessions(
      wants({ id: "c1", name: "save", input: {} }),
      says("Saved."),
    );
    const { client, sessionId } = await begun(sessions);
    void client.request("session/prompt", prompt(sessionId, "Save"));
    const { id } = await client.waitForMessage(
      ({ method }) => method === "session/request_permission",
    );
    await client.requestResult("session/attach", {
      sessionId,
      clientId: "editor",
      mode: "observer",
    });
    const taken = await client.waitForMessage(({ method }) => method === "$/cancel_request");
    expect(taken).toMatchObject({ params: { requestId: id } });
    await client.requestResult("session/takeover", { sessionId, clientId: "editor" });
    await client.waitForMessage(
      (one) => one["method"] === "session/request_permission" && one["id"] !== id,
    );
  });
});

describe("Client that attached as an observer under another id", () => {
  it("The client can cancel the turn that it started [ACP-104]", async () => {
    const sessions = createSavingSessions(hangs("Well"));
    const { client, sessionId, answer } = await lookingOn(sessions);
    client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    expect((await answer)["result"]).toEqual({ stopReason: "cancelled" });
    expect(client.notes).toEqual([]);
  });

  it("Closing the session cancels the client's turn and its queued prompt", async () => {
    const sessions = createSavingSessions(hangs("Well"));
    const { client, sessionId, answer, queued } = await lookingOn(sessions);
    await client.requestResult("session/close", { sessionId });
    expect((await answer)["result"]).toEqual({ stopReason: "cancelled" });
    expect((await queued)["result"]).toMatchObject({ stopReason: "cancelled" });
    expect((await sessions.find(sessionId))?.state).toBe("idle");
  });
});

async function lookingOn(sessions: Sessions) {
  const { client, sessionId } = await begun(sessions);
  const answer = client.request("session/prompt", prompt(sessionId, "Go"));
  await client.waitForMessage(({ params }) => JSON.stringify(params ?? "").includes("Well"));
  const queued = client.request("session/prompt", prompt(sessionId, "And then"));
  await client.requestResult("session/attach", { sessionId, clientId: "editor", mode: "observer" });
  return { client, sessionId, answer, queued };
}

describe("Client that closes a session", () => {
  it("The close does not wait for a turn that the client may not cancel", async () => {
    const sessions = createSavingSessions(hangs("Well"));
    const stubborn: Sessions = {
      ...sessions,
      agents: sessions.agents,
      async command(sessionId, command, from) {
        if (command.type !== "cancel") return sessions.command(sessionId, command, from);
        const failure = { code: "access_denied", message: "Not by you", details: {} } as const;
        return { status: "refused", failure };
      },
    };
    const { client, sessionId } = await begun(stubborn);
    const answer = client.request("session/prompt", prompt(sessionId, "Go"));
    await client.waitForMessage(({ params }) => JSON.stringify(params ?? "").includes("Well"));
    await client.requestResult("session/close", { sessionId });
    expect((await answer)["error"]).toMatchObject({ data: { code: "aborted" } });
  });
});
