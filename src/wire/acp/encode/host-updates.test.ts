import { describe, expect, it } from "vitest";
import {
  encodeAcpOutputs,
  encodeAcpUpdates,
  HOST_PROFILE,
} from "../../../../test/support/acp/encode-acp-updates.ts";
import type { SessionEvent } from "../../../domain/events/session-event.ts";
import { createToolCall, createToolSuccess } from "../../../domain/tools/tool-call.ts";
import { STOCK_CLIENT, type ClientProfile } from "../decode/client-profile.ts";
import { encodeUpdateLine } from "./acp-session-update.ts";
import { createUpdateEncoder } from "./update-encoder.ts";
import type { AcpOutput } from "./update-state.ts";

const block = { messageId: "m", block: 0 };

const CLIENTS: readonly SessionEvent[] = [
  { type: "client.attached", clientId: "tui", mode: "controller", name: "TUI" },
  { type: "controller.changed", from: null, to: "tui" },
  { type: "client.attached", clientId: "portal", mode: "observer", name: "" },
  { type: "controller.changed", from: "tui", to: "portal" },
  { type: "client.detached", clientId: "portal", reason: "client_exit" },
  { type: "controller.changed", from: "portal", to: null },
];

describe("Live client updates", () => {
  it("Each change is sent once to a bridge host, with the client's id and the reason for a detach [B-214]", () => {
    const changes = encodeAcpUpdates(CLIENTS, HOST_PROFILE).map(
      (update) => Object(update)["_meta"].harn,
    );
    const client = (client_id: string, isController: boolean, seconds: string) => ({
      client_id,
      mode: isController ? "controller" : "observer",
      attached_at: seconds,
      last_seen_at: seconds,
      prompt_injection: isController,
      permission_routing: isController,
      metadata: {},
    });
    const state = (
      about: object | null,
      previous_controller_id: string | null,
      active_controller_id: string | null,
      clients: readonly object[],
    ) => ({ client: about, previous_controller_id, active_controller_id, clients });
    const tui = client("tui", true, "0");
    const portal = client("portal", false, "2");
    const taken = client("portal", true, "2");
    const observer = client("tui", false, "0");
    expect(changes).toEqual([
      { action: "attached", clientId: "tui", state: state(tui, null, "tui", [tui]) },
      {
        action: "attached",
        clientId: "portal",
        state: state(portal, "tui", "tui", [tui, portal]),
      },
      {
        action: "takeover",
        clientId: "portal",
        state: state(taken, "tui", "portal", [observer, taken]),
      },
      {
        action: "detached",
        clientId: "portal",
        reason: "client_exit",
        state: state(null, "portal", null, [observer]),
      },
    ]);
  });

  it("Client changes are agent events for hosts that opted in and are not sent to stock clients [W-24] [ACP-127] [ACP-128]", () => {
    const events = { ...HOST_PROFILE, acceptsEvents: true };
    const listOutputTypes = (profile: ClientProfile) =>
      new Set(encodeAcpOutputs(CLIENTS, profile).map(({ type }) => type));
    expect(listOutputTypes(events)).toEqual(new Set(["caught-up", "event"]));
    expect(listOutputTypes(STOCK_CLIENT)).toEqual(new Set(["caught-up"]));
  });

  it("The update fits into a line with 1,000 clients [ACP-15]", () => {
    const many = Array.from({ length: 1000 }, (_, at): SessionEvent => {
      return { type: "client.attached", clientId: `client_${at}`, mode: "observer", name: "n" };
    });
    const lines = encodeAcpUpdates(many, HOST_PROFILE).map((update) =>
      encodeUpdateLine("s", update),
    );
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(48 * 1024);
    expect(lines.at(-1)).toContain("client_999");
  });
});

const call = createToolCall({ id: "c", name: "read", inputText: '{"path":"a"}', runBy: "client" });

describe("Recovery message", () => {
  const recovery: SessionEvent = {
    type: "message.sent",
    messageId: "u",
    content: [{ type: "text", text: "The connection was lost. Your last input was: Hi" }],
    origin: "recovery",
  };
  const notice =
    "The agent's response was interrupted, so the bridge repeated the input the agent may have missed";

  it("A bridge host receives a recovery message as a log entry [B-036]", () => {
    const harn = { level: "warn", message: notice, fields: {} };
    expect(encodeAcpUpdates([recovery], HOST_PROFILE)).toEqual([
      { sessionUpdate: "log", _meta: { harn } },
    ]);
  });

  it("A client that accepts notices receives a recovery message as a notice [W-24]", () => {
    expect(encodeAcpUpdates([recovery], { ...STOCK_CLIENT, acceptsNotices: true })).toEqual([
      { sessionUpdate: "notice", severity: "warning", title: notice },
    ]);
  });

  it("A stock client receives a recovery message as a thought, never as a user message", () => {
    const content = { type: "text", text: `${notice}.` };
    expect(encodeAcpUpdates([recovery], STOCK_CLIENT)).toEqual([
      { sessionUpdate: "agent_thought_chunk", messageId: "u", content },
    ]);
  });
});

describe("Updates for bridge hosts", () => {
  it("Stream problems are log entries for bridge hosts and notices for clients that accept notices [B-036] [W-24]", () => {
    const raised: SessionEvent = {
      type: "diagnostic.raised",
      diagnostic: { code: "usage_invalid", message: "No number", count: 2 },
    };
    const unknown: SessionEvent = {
      type: "provider.unknown",
      what: "event",
      name: "x",
      raw: "secret",
    };
    const fields = { code: "usage_invalid", count: 2 };
    expect(encodeAcpUpdates([raised], HOST_PROFILE)).toEqual([
      {
        sessionUpdate: "log",
        _meta: { harn: { level: "warn", message: "No number", fields } },
      },
    ]);
    expect(JSON.stringify(encodeAcpUpdates([unknown], HOST_PROFILE))).not.toContain("secret");
    expect(encodeAcpUpdates([raised, unknown], STOCK_CLIENT)).toEqual([]);
    expect(encodeAcpUpdates([raised, unknown], { ...STOCK_CLIENT, acceptsNotices: true })).toEqual([
      { sessionUpdate: "notice", severity: "warning", title: "No number" },
      {
        sessionUpdate: "notice",
        severity: "warning",
        title: "The provider sent unknown data: x",
      },
    ]);
  });

  it("Tool progress is a progress update for bridge hosts and tool call content for stock clients [B-035]", () => {
    const events: SessionEvent[] = [
      { type: "tool_call.received", toolCallId: "t", ...block, toolCall: call },
      { type: "tool.progress", toolCallId: "t", text: "half" },
    ];
    const data = { toolCallId: "t" };
    expect(encodeAcpUpdates(events, HOST_PROFILE).at(-1)).toEqual({
      sessionUpdate: "progress",
      _meta: { harn: { phase: "tool", message: "half", progress: null, total: null, data } },
    });
    expect(encodeAcpOutputs(events, STOCK_CLIENT).filter(({ type }) => type === "event")).toEqual(
      [],
    );
    expect(encodeAcpUpdates(events, STOCK_CLIENT).at(-1)).toMatchObject({
      sessionUpdate: "tool_call_update",
      content: [{ type: "content", content: { type: "text", text: "half" } }],
    });
  });

  it("Streamed arguments are sent to bridge hosts in growing parts and finally once in full [ACP-82] [B-027]", () => {
    const written = JSON.stringify({ path: "a", content: "x".repeat(30_000) });
    const deltas = written.match(/.{1,50}/g) ?? [];
    const whole = createToolCall({ id: "c", name: "write", inputText: written, runBy: "client" });
    const events: SessionEvent[] = [
      { type: "tool_call.opened", toolCallId: "t", ...block, name: "write" },
      ...deltas.map((text): SessionEvent => ({
        type: "tool_call.input.delta",
        toolCallId: "t",
        text,
      })),
      { type: "tool_call.received", toolCallId: "t", ...block, toolCall: whole },
    ];
    const updates = encodeAcpUpdates(events, HOST_PROFILE);
    const metas = updates.map((update) => Object(update)["_meta"].harn);
    expect(metas.map(({ parsing }) => parsing)).toEqual([...metas.slice(1).map(() => true), false]);
    const partial = metas.slice(1, -1).map(({ rawInputPartial }) => rawInputPartial);
    expect(partial.every((text) => written.startsWith(text))).toBe(true);
    // Each part is the whole text received so far. The size of all parts together is limited to a multiple of the
    // arguments.
    expect(partial.join("").length).toBeLessThan(3 * written.length);
    expect(updates.filter((update) => "rawInput" in update)).toHaveLength(1);
    expect(encodeAcpUpdates(events, STOCK_CLIENT)).toHaveLength(2);
  });

  it("Credentials are masked in streamed, whole and unreadable arguments [B-027]", () => {
    const written = JSON.stringify({ n: 1, password: "hunter2secret", note: "a b c" });
    const broken = `${written.slice(0, -2)} oops`;
    const encode = (inputText: string): readonly unknown[] =>
      encodeAcpUpdates(
        [
          { type: "tool_call.opened", toolCallId: "t", ...block, name: "write" },
          ...Array.from(inputText, (text): SessionEvent => ({
            type: "tool_call.input.delta",
            toolCallId: "t",
            text,
          })),
          {
            type: "tool_call.received",
            toolCallId: "t",
            ...block,
            toolCall: createToolCall({ id: "c", name: "write", inputText, runBy: "client" }),
          },
        ],
        HOST_PROFILE,
      );
    const updates = encode(written);
    expect(JSON.stringify(updates)).toContain('rawInputPartial":"{\\"n\\":1');
    expect(updates.at(-1)).toMatchObject({ rawInput: { password: "[masked credential 1]" } });
    for (const update of [...updates, ...encode(broken)]) {
      expect(JSON.stringify(update)).not.toContain("hunter");
    }
  });

  it("Tool progress keeps the tool's numbers [B-035]", () => {
    const events: SessionEvent[] = [
      { type: "tool_call.opened", toolCallId: "t", ...block, name: "read" },
      { type: "tool_call.received", toolCallId: "t", ...block, toolCall: call },
      {
        type: "tool.progress",
        toolCallId: "t",
        text: "Third",
        amount: { progress: 3, total: 7 },
      },
      { type: "tool.progress", toolCallId: "t", text: "Fourth", amount: { progress: 4 } },
      { type: "tool.progress", toolCallId: "t", text: "Fifth" },
    ];
    const agentEvents = encodeAcpUpdates(events, HOST_PROFILE).flatMap((update) =>
      update.sessionUpdate === "progress" ? [Object(update)["_meta"].harn] : [],
    );
    const about = { phase: "tool", data: { toolCallId: "t" } };
    expect(agentEvents).toEqual([
      { ...about, message: "Third", progress: 3, total: 7 },
      { ...about, message: "Fourth", progress: 4, total: null },
      { ...about, message: "Fifth", progress: null, total: null },
    ]);
  });

  it("A user message is sent whole to bridge hosts and in chunks to stock clients [B-019]", () => {
    const sent = (text: string): SessionEvent => ({
      type: "message.sent",
      messageId: "u",
      content: [{ type: "text", text }],
      origin: "prompt",
    });
    expect(encodeAcpUpdates([sent("hi")], HOST_PROFILE)).toEqual([
      { sessionUpdate: "user_message", messageId: "u", content: [{ type: "text", text: "hi" }] },
    ]);
    expect(encodeAcpUpdates([sent("hi")], STOCK_CLIENT)).toMatchObject([
      { sessionUpdate: "user_message_chunk", messageId: "u" },
    ]);
    expect(encodeAcpUpdates([sent("x".repeat(60_000))], HOST_PROFILE)[0]?.sessionUpdate).toBe(
      "user_message_chunk",
    );
  });

  it("Vendor fields start as soon as the client is known to be a bridge host", () => {
    let profile = STOCK_CLIENT;
    const encoder = createUpdateEncoder({
      sessionId: "s",
      clientId: "me",
      upTo: 0,
      history: "shown",
      getProfile: () => profile,
    });
    const state = encoder.initial();
    const updates: AcpOutput[] = [];
    const step = (seq: number): void => {
      const event = { type: "text.delta", ...block, text: "a" } as const;
      const envelope = { sessionId: "s", seq, at: 0, visibility: "public", event } as const;
      encoder.step(state, envelope, (output) => updates.push(output));
    };
    step(1);
    profile = HOST_PROFILE;
    step(2);
    expect(JSON.stringify(updates.slice(0, 2))).not.toContain("visible_delta");
    expect(JSON.stringify(updates[2])).toContain("visible_delta");
  });
});

describe("Context usage", () => {
  const usage = {
    inputTokens: 100,
    outputTokens: 20,
    cacheReadTokens: 3,
    cacheWriteTokens: 4,
    totalTokens: 127,
  };
  const bound = (contextTokens?: number): SessionEvent => ({
    type: "agent.configured",
    digest: "d",
    spec: {
      name: "a",
      provider: { name: "p", injectionPoints: [], effectFree: false, canStop: false },
      tools: [],
      approvals: { deny: [], ask: [], allow: [], default: "ask" },
      caps: { steps: 1, seconds: 1, tokens: null, toolCalls: 1, parallelTools: 1 },
      onLost: "ask",
      settle: "wait",
      approvalMs: 1,
      ...(contextTokens !== undefined && { contextTokens }),
    },
  });
  const reported: SessionEvent = { type: "usage.reported", usage };
  const nothing = { ...usage, inputTokens: 0, outputTokens: 0, cacheReadTokens: 0 };

  it("Usage is sent after each model invocation if the context size is known [ACP-76]", () => {
    const update = { sessionUpdate: "usage_update", used: 127, size: 200_000 };
    expect(encodeAcpUpdates([bound(200_000), reported, reported], STOCK_CLIENT)).toEqual([
      update,
      update,
    ]);
    expect(encodeAcpUpdates([bound(), reported], STOCK_CLIENT)).toEqual([]);
    const zero: SessionEvent = {
      type: "usage.reported",
      usage: { ...nothing, cacheWriteTokens: 0 },
    };
    expect(encodeAcpUpdates([bound(200_000), zero], STOCK_CLIENT)).toEqual([]);
  });
});

describe("Tool call updates", () => {
  it("Bridge fields are under _meta.harn and ACP fields are at the root [B-027] [B-028] [B-029]", () => {
    const events: SessionEvent[] = [
      { type: "tool_call.opened", toolCallId: "t", ...block, name: "read" },
      { type: "tool_call.input.delta", toolCallId: "t", text: "{" },
      { type: "tool_call.received", toolCallId: "t", ...block, toolCall: call },
      { type: "tool.started", toolCallId: "t", attempt: 1, digest: "d" },
      {
        type: "tool.finished",
        toolCallId: "t",
        ending: "failed",
        result: { ...createToolSuccess("c", "no"), isError: true },
        durationMs: 5,
        attachments: { locations: [{ path: "/a", line: 1 }] },
      },
    ];
    const names =
      "sessionUpdate toolCallId title kind status content locations rawInput rawOutput _meta";
    const known = new Set(names.split(" "));
    const updates = encodeAcpUpdates(events, HOST_PROFILE);
    expect(
      updates.flatMap((update) => Object.keys(update)).filter((key) => !known.has(key)),
    ).toEqual([]);
    expect(Object.keys(Object(updates.at(-1))["_meta"])).toEqual(["harn"]);
    expect(Object(updates.at(-1))["_meta"].harn).toEqual({
      durationMs: 4000,
      executionDurationMs: 5,
      error: "no",
      errorCategory: "tool_error",
    });
  });
});
