import { describe, expect, it, onTestFinished } from "vitest";
import {
  connectAcpClient,
  readText,
  type AcpClient,
  type Message,
} from "../../support/acp/acp-client.ts";
import { advanceUntil, createFakeClock } from "../../support/fake-clock.ts";
import { createFillingStore } from "../../support/session/filling-store.ts";
import { createScriptedProvider, says, wants } from "../../support/session/scripted-provider.ts";
import { createScriptedSessions } from "../../support/session/scripted-sessions.ts";
import { createAgent, createTool, openSessions } from "../../support/session/session-world.ts";
import { waitUntil } from "../../support/with-deadline.ts";
import { askingTurn } from "../../support/acp/scripted-turns.ts";

function listRequests({ messages }: AcpClient): readonly Message[] {
  return messages.filter(({ method }) => method === "session/request_permission");
}

function allow(client: AcpClient, request: Message | undefined): void {
  const outcome = { outcome: "selected", optionId: "allow" };
  client.send({ jsonrpc: "2.0", id: request?.["id"], result: { outcome } });
}

function waitForRequest(client: AcpClient, number: number): Promise<Message> {
  return client.waitForMessage((message) => message === listRequests(client)[number - 1]);
}

describe("Decision that cannot be stored", () => {
  it("A permission decided on a full disk is requested again when there is space, and the turn continues [B-009]", async () => {
    const disk = createFillingStore();
    const clock = createFakeClock();
    const saved: unknown[] = [];
    const save = createTool({ name: "save" }, (input) => {
      saved.push(input);
      return "saved";
    });
    const approvals = { deny: [], ask: ["save"], allow: [], default: "deny" } as const;
    const provider = createScriptedProvider([
      wants({ id: "c", name: "save", input: { n: 1 } }),
      says("Done"),
    ]);
    const agent = createAgent({ provider, tools: [save], approvals });
    const sessions = openSessions(disk.store, agent, clock);
    onTestFinished(() => sessions.close());
    const client = await connectAcpClient(sessions, { clock });
    const sessionId = await client.newSession();
    const prompt = [{ type: "text", text: "Save" }];
    const answer = client.request("session/prompt", { sessionId, prompt });
    const first = await waitForRequest(client, 1);
    disk.fill(true);
    allow(client, first);
    const isNoted = (): boolean => client.notes.includes("a decision could not be stored");
    await advanceUntil(
      clock,
      waitUntil(isNoted, () => client.notes),
    );
    // No request is sent while the disk is full.
    const refusals = disk.refused;
    await advanceUntil(
      clock,
      waitUntil(() => disk.refused > refusals + 3),
    );
    expect(listRequests(client)).toHaveLength(1);
    expect(saved).toEqual([]);
    disk.fill(false);
    const second = waitForRequest(client, 2);
    await advanceUntil(clock, second);
    expect((await second)["params"]).toEqual(first["params"]);
    allow(client, await second);
    await advanceUntil(clock, answer);
    expect((await answer)["result"]).toEqual({ stopReason: "end_turn" });
    expect(saved).toEqual([{ n: 1 }]);
    expect(listRequests(client)).toHaveLength(2);
  });
});

describe("Limit of open permission requests", () => {
  it("A permission request beyond the limit is sent when another request is decided or withdrawn [B-009]", async () => {
    const sessions = createScriptedSessions({ turn: askingTurn });
    const client = await connectAcpClient(sessions);
    const ids: string[] = [await client.newSession()];
    while (ids.length < 260) {
      const { sessionId } = await client.requestResult("session/new", {
        cwd: "/work",
        mcpServers: [],
      });
      ids.push(readText(sessionId));
    }
    // Prompts count as requests too, so another user submits the prompts.
    const user = { principal: { id: "user", rights: ["prompt"] } } as const;
    const content = [{ type: "text", text: "delete a" }] as const;
    for (const sessionId of ids) {
      await sessions.command(sessionId, { type: "prompt", content }, user);
    }
    await waitForRequest(client, 256);
    await client.request("initialize");
    expect(listRequests(client)).toHaveLength(256);
    allow(client, listRequests(client)[0]);
    await waitForRequest(client, 257);
    // Another approver decides, so the request is withdrawn.
    const open = listRequests(client)[1]?.["params"];
    const withdrawn = ids[1] ?? "";
    expect(open).toMatchObject({ sessionId: withdrawn });
    const approvalId = `appr_${sessions.readTurnId(withdrawn)}`;
    await sessions.command(
      withdrawn,
      { type: "decide-approval", approvalId, decision: "deny" },
      user,
    );
    await waitForRequest(client, 258);
    // A decided request is not sent if it was still waiting for the limit.
    const unsent = ids[258] ?? "";
    const unsentId = `appr_${sessions.readTurnId(unsent)}`;
    await sessions.command(
      unsent,
      { type: "decide-approval", approvalId: unsentId, decision: "deny" },
      user,
    );
    for (const request of listRequests(client).slice(2)) allow(client, request);
    await waitForRequest(client, 259);
    await client.request("initialize");
    const requestedIds = listRequests(client).map(({ params }) => Object(params)["sessionId"]);
    expect(new Set(requestedIds)).toEqual(new Set(ids.filter((id) => id !== unsent)));
    expect(requestedIds).toHaveLength(259);
  });
});
