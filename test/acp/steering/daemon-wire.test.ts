import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/data/json.ts";
import { formatSortedJson } from "../../support/sorted-json.ts";
import type { Envelope } from "../../../src/domain/events/envelope.ts";
import type { EventOf } from "../../../src/domain/events/session-event.ts";
import type { RunningSessions } from "../../../src/session/runtime/create-sessions.ts";
import type { AcpPeer, Message } from "../../support/acp/acp-client.ts";
import {
  createSteeringWorld,
  LOCAL,
  looks,
  listUserMessages,
  openSession,
  readAgentText,
  readReason,
  submit,
  TRANSPORTS,
} from "../../support/acp/steering-world.ts";
import { eventually } from "../../support/eventually.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { says } from "../../support/session/scripted-provider.ts";
import { readUntil } from "../../support/session/session-world.ts";

function listIdle({ messages }: Pick<AcpPeer, "messages">): readonly (JsonValue | undefined)[] {
  return messages.flatMap(({ method, params }) => (method === "agent/idle" ? [params] : []));
}

function idle(iteration: number, backoffMs: number): object {
  return { iteration, backoff_ms: backoffMs };
}

function isPermissionRequest({ method }: Message): boolean {
  return method === "session/request_permission";
}

function listPermissionRequests({ messages }: Pick<AcpPeer, "messages">): readonly Message[] {
  return messages.filter(isPermissionRequest);
}

async function waitForApproval(
  sessions: RunningSessions,
  sessionId: string,
): Promise<EventOf<"approval.requested">> {
  const isRequest = ({ event }: Envelope): boolean => event.type === "approval.requested";
  const event = (await readUntil(sessions, sessionId, isRequest)).at(-1)?.event;
  if (event?.type !== "approval.requested") throw new Error("The log has no approval request");
  return event;
}

describe.each(TRANSPORTS)("A daemon over %s", (_, connect) => {
  it("An idle daemon notifies its host after each wait of the ladder, with the documented parameters [B-158] [B-159] [B-161] [B-162] [ACP-132]", async () => {
    const clock = createFakeClock();
    const { sessions, connectHost } = createSteeringWorld(connect, [says("Done.")], {
      clock,
      daemon: {},
    });
    const host = await connectHost();
    const sessionId = await openSession(host);
    expect(listIdle(host)).toEqual([]);
    await submit(host, sessionId, "Go");
    await eventually(() => expect(listIdle(host)).toHaveLength(1));
    const [before] = (await sessions.list({ limit: 1 })).sessions;
    for (const [count, wait] of [100, 500, 1000, 2000].entries()) {
      clock.advance(wait - 1);
      expect(listIdle(host)).toHaveLength(count + 1);
      clock.advance(1);
      await eventually(() => expect(listIdle(host)).toHaveLength(count + 2));
    }
    expect(listIdle(host)).toEqual([
      idle(1, 100),
      idle(2, 500),
      idle(3, 1000),
      idle(4, 2000),
      idle(5, 2000),
    ]);
    expect(formatSortedJson(listIdle(host)[2])).toBe('{"backoff_ms":1000,"iteration":3}');
    // The waits are not in the log.
    expect((await sessions.list({ limit: 1 })).sessions).toMatchObject([{ seq: before?.seq }]);
  });

  it("After activity the waits of an idle daemon start again at the first step [B-160] [ACP-132]", async () => {
    const clock = createFakeClock();
    const { connectHost } = createSteeringWorld(connect, [says("Done.")], { clock, daemon: {} });
    const host = await connectHost();
    const sessionId = await openSession(host);
    await submit(host, sessionId, "Go");
    await eventually(() => expect(listIdle(host)).toHaveLength(1));
    clock.advance(600);
    await eventually(() => expect(listIdle(host)).toHaveLength(3));
    await host.requestResult("session/remind", { sessionId, body: "Look" });
    await eventually(() => expect(listIdle(host)).toHaveLength(4));
    await submit(host, sessionId, "Again");
    await eventually(() => expect(listIdle(host)).toHaveLength(5));
    expect(listIdle(host).slice(2)).toEqual([idle(3, 1000), idle(1, 100), idle(1, 100)]);
  });

  it("The notification agent/resume wakes an idle daemon, without a session id and without a user message [B-163] [B-164] [ACP-132]", async () => {
    const clock = createFakeClock();
    const { connectHost, provider } = createSteeringWorld(
      connect,
      [says("Done."), says("Nothing is left.")],
      { clock, daemon: {} },
    );
    const host = await connectHost();
    const sessionId = await openSession(host);
    await submit(host, sessionId, "Go");
    host.send({ jsonrpc: "2.0", method: "agent/resume", params: {} });
    await eventually(() => expect(readAgentText(host)).toContain("Nothing is left."));
    expect(provider.invocations).toHaveLength(2);
    expect(listUserMessages(host)).toEqual([]);
    const reader = await connectHost();
    await reader.requestResult("session/load", { sessionId, cwd: "/work", mcpServers: [] });
    expect(readAgentText(reader)).toBe("Done.Nothing is left.");
    expect(listUserMessages(reader).map((text) => text.split(" ").at(-1))).toEqual(["Go"]);
  });

  it.each(["steer", "queue"])(
    "A message with the mode %s wakes an idle daemon without a timer [B-171] [W-16]",
    async (mode) => {
      const clock = createFakeClock();
      const { connectHost, provider } = createSteeringWorld(
        connect,
        [says("Done."), says("Thank you.")],
        { clock, daemon: {} },
      );
      const host = await connectHost();
      const sessionId = await openSession(host);
      await submit(host, sessionId, "Go");
      const params = { sessionId, mode, content: "News" };
      const result = await host.requestResult("session/inject", params);
      expect(result).toMatchObject({ status: "accepted", deliveredAs: "turn" });
      // The clock stands still.
      await eventually(() => expect(readAgentText(host)).toContain("Thank you."));
      expect(provider.invocations[1]?.input).toMatchObject({ texts: ["News"] });
    },
  );

  it("A stock client receives nothing of a daemon's own turn live, and the whole turn when it loads the session [ACP-131]", async () => {
    const clock = createFakeClock();
    const { connectHost, connectStock } = createSteeringWorld(
      connect,
      [says("Done."), says("In the background."), says("For you.")],
      { clock, daemon: {} },
    );
    const editor = await connectStock();
    const sessionId = await openSession(editor);
    await submit(editor, sessionId, "Go");
    const host = await connectHost();
    await host.requestResult("session/attach", {
      sessionId,
      clientId: "host",
      mode: "controller",
      takeover: true,
    });
    const before = editor.messages.length;
    await host.requestResult("agent/resume", { sessionId });
    await eventually(() => expect(readAgentText(host)).toContain("In the background."));
    await eventually(() => expect(listIdle(host).length).toBeGreaterThan(0));
    // A response on the same stream follows every update of the turn.
    await editor.requestResult("session/list", {});
    expect(editor.messages.slice(before).filter(({ method }) => method !== undefined)).toEqual([]);
    const reader = await connectStock();
    await reader.requestResult("session/load", { sessionId, cwd: "/work", mcpServers: [] });
    expect(readAgentText(reader)).toBe("Done.In the background.");
    expect(listIdle(editor)).toEqual([]);
    const reply = await editor.requestResult("_session/steering", {
      sessionId,
      prompt: [{ type: "text", text: "And me?" }],
    });
    expect(reply).toMatchObject({ outcome: "startedNewTurn" });
    await eventually(() => expect(readAgentText(editor)).toBe("Done.For you."));
  });

  it("An approval request of a daemon's own turn reaches hosts and callers of the API but no stock client [ACP-131]", async () => {
    const clock = createFakeClock();
    const approvals = { deny: [], ask: ["look"], allow: [], default: "ask" } as const;
    const answers = [says("Done."), looks, says("In the background."), says("For you.")];
    const { sessions, gate, connectHost, connectStock } = createSteeringWorld(connect, answers, {
      clock,
      daemon: {},
      approvals,
    });
    gate.open();
    const editor = await connectStock();
    const sessionId = await openSession(editor);
    await submit(editor, sessionId, "Go");
    const before = editor.messages.length;
    await sessions.command(sessionId, { type: "resume-daemon" }, { principal: LOCAL });
    const { approvalId } = await waitForApproval(sessions, sessionId);
    const host = await connectHost();
    await host.requestResult("session/load", { sessionId, cwd: "/work", mcpServers: [] });
    const reader = await connectStock();
    await reader.requestResult("session/load", { sessionId, cwd: "/work", mcpServers: [] });
    // A response on the same stream follows every message before it.
    await editor.requestResult("session/list", {});
    await reader.requestResult("session/list", {});
    expect(editor.messages.slice(before).filter(({ method }) => method !== undefined)).toEqual([]);
    expect(listPermissionRequests(reader)).toEqual([]);
    const command = { type: "decide-approval", approvalId, decision: "allow" } as const;
    expect(await sessions.command(sessionId, command, { principal: LOCAL })).toMatchObject({
      status: "accepted",
    });
    await eventually(() => expect(readAgentText(host)).toContain("In the background."));
  });

  it("A stock client whose prompt waits for a daemon's own turn is asked for the approval for which its prompt waits [ACP-131]", async () => {
    const clock = createFakeClock();
    const approvals = { deny: [], ask: ["look"], allow: [], default: "ask" } as const;
    const answers = [says("Done."), looks, says("In the background."), says("For you.")];
    const { sessions, gate, connectStock } = createSteeringWorld(connect, answers, {
      clock,
      daemon: {},
      approvals,
    });
    gate.open();
    const editor = await connectStock();
    const sessionId = await openSession(editor);
    await submit(editor, sessionId, "Go");
    await sessions.command(sessionId, { type: "resume-daemon" }, { principal: LOCAL });
    await waitForApproval(sessions, sessionId);
    await editor.requestResult("session/list", {});
    expect(listPermissionRequests(editor)).toEqual([]);
    const answer = submit(editor, sessionId, "And me?");
    const { id } = await editor.waitForMessage(isPermissionRequest);
    const outcome = { outcome: "selected", optionId: "allow" };
    editor.send({ jsonrpc: "2.0", id, result: { outcome } });
    expect(await answer).toMatchObject({ stopReason: "end_turn" });
    expect(readAgentText(editor)).toBe("Done.For you.");
  });

  it("The notifications name their session if the connection has several [ACP-132] [W-18]", async () => {
    const clock = createFakeClock();
    const { connectHost } = createSteeringWorld(connect, [says("Done.")], { clock, daemon: {} });
    const host = await connectHost();
    const first = await openSession(host);
    await submit(host, first, "Go");
    await eventually(() => expect(listIdle(host)).toEqual([idle(1, 100)]));
    const second = await openSession(host);
    await submit(host, second, "Go");
    await eventually(() => expect(listIdle(host)).toHaveLength(2));
    expect(listIdle(host)[1]).toEqual({ sessionId: second, ...idle(1, 100) });
    clock.advance(100);
    await eventually(() => expect(listIdle(host)).toHaveLength(4));
    expect(listIdle(host).slice(2)).toEqual(
      expect.arrayContaining([
        { sessionId: first, ...idle(2, 500) },
        { sessionId: second, ...idle(2, 500) },
      ]),
    );
    expect(await host.request("agent/resume", {})).toMatchObject({ error: {} });
    expect(await host.requestResult("agent/resume", { sessionId: first })).toEqual({
      status: "accepted",
    });
    await eventually(() => expect(listIdle(host)).toHaveLength(5));
    await host.requestResult("session/close", { sessionId: second });
    clock.advance(100);
    await eventually(() => expect(listIdle(host)).toHaveLength(6));
    expect(listIdle(host)[5]).toEqual(idle(2, 500));
  });

  it("A daemon that its watchdog stops says so to its host, and is silent afterwards [ACP-132]", async () => {
    const clock = createFakeClock();
    const daemon = { watchdogAttempts: 3 };
    const { connectHost, connectStock } = createSteeringWorld(connect, [says("Done.")], {
      clock,
      daemon,
    });
    const editor = await connectStock();
    const host = await connectHost();
    const sessionId = await openSession(host);
    await editor.requestResult("session/load", { sessionId, cwd: "/work", mcpServers: [] });
    await submit(host, sessionId, "Go");
    await eventually(() => expect(listIdle(host)).toHaveLength(1));
    for (const wait of [100, 500, 1000]) clock.advance(wait);
    const isEvent = ({ method }: Message): boolean => method === "_harn/agentEvent";
    const { params } = await host.waitForMessage(isEvent);
    const elapsedMs = 1600;
    expect(params).toEqual({ sessionId, kind: "daemon_watchdog_tripped", attempts: 3, elapsedMs });
    const count = listIdle(host).length;
    clock.advance(10_000);
    await editor.requestResult("session/list", {});
    expect(listIdle(host)).toHaveLength(count);
    expect(editor.messages.filter(isEvent)).toEqual([]);
  });

  it("An agent that is not a daemon is silent between turns and refuses to be resumed [B-158] [B-161]", async () => {
    const clock = createFakeClock();
    const { connectHost } = createSteeringWorld(connect, [says("Done.")], { clock });
    const host = await connectHost();
    const sessionId = await openSession(host);
    await submit(host, sessionId, "Go");
    clock.advance(5000);
    expect(readReason(await host.request("agent/resume", { sessionId }))).toBe("not_a_daemon");
    expect(listIdle(host)).toEqual([]);
  });
});
