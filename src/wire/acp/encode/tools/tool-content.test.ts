import { describe, expect, it } from "vitest";
import { encodeAcpUpdates } from "../../../../../test/support/acp/encode-acp-updates.ts";
import type { AgentSpec } from "../../../../domain/agent-spec.ts";
import type { SessionEvent } from "../../../../domain/events/session-event.ts";
import type { ToolEnding } from "../../../../domain/events/tool-events.ts";
import type { ToolAttachments } from "../../../../domain/tools/tool-output.ts";
import type { ToolKind } from "../../../../domain/tools/tool-traits.ts";
import {
  createToolCall,
  createToolError,
  createToolSuccess,
} from "../../../../domain/tools/tool-call.ts";
import { STOCK_CLIENT, type ClientProfile } from "../../decode/client-profile.ts";
import { encodeUpdateLine, type AcpSessionUpdate } from "../acp-session-update.ts";

const TERMINALS: ClientProfile = { ...STOCK_CLIENT, showsTerminalOutput: true };

function agentWith(kind: ToolKind): AgentSpec {
  const traits = { kind, sideEffect: "process_exec" } as const;
  const tool = { name: "tool", description: "", schema: {}, idempotent: false, timeoutMs: 1 };
  return {
    name: "coder",
    provider: { name: "p", injectionPoints: [], effectFree: false, canStop: false },
    tools: [{ ...tool, traits }],
    approvals: { deny: [], ask: [], allow: ["*"], default: "ask" },
    workspace: "/work",
    caps: { steps: 1, seconds: 1, tokens: null, toolCalls: 1, parallelTools: 1 },
    onLost: "ask",
    settle: "wait",
    approvalMs: 1000,
  };
}

const call = createToolCall({ id: "c", name: "tool", inputText: "{}", runBy: "client" });
const place = { toolCallId: "t", messageId: "m", block: 0 };

/**
 * A tool call that is opened, requests approval with a preview if there are diffs, starts, reports progress and
 * finishes.
 */
function events(
  kind: ToolKind,
  ending: ToolEnding,
  output: string,
  attachments: ToolAttachments = {},
): SessionEvent[] {
  const { diffs } = attachments;
  const ran: SessionEvent[] = [
    { type: "tool.started", toolCallId: "t", attempt: 1, digest: "d" },
    { type: "tool.progress", toolCallId: "t", text: "half" },
  ];
  return [
    { type: "agent.configured", digest: "d", spec: agentWith(kind) },
    { type: "tool_call.opened", ...place, name: "tool" },
    { type: "tool_call.received", ...place, toolCall: call },
    {
      type: "approval.requested",
      approvalId: "a",
      question: "run",
      options: ["allow", "deny"],
      subjectId: "t",
      action: "tool",
      input: {},
      deadline: 0,
      ...(diffs !== undefined && { diffs }),
    },
    ...(ending === "denied" ? [] : ran),
    {
      type: "tool.finished",
      toolCallId: "t",
      ending,
      result:
        ending === "succeeded" ? createToolSuccess("c", output) : createToolError("c", output),
      durationMs: 7,
      ...(ending === "succeeded" && { attachments }),
    },
  ];
}

function text(content: string): object {
  return { type: "content", content: { type: "text", text: content } };
}

describe("Tool call", () => {
  it("A tool call is pending, then in progress, then completed under the same id [ACP-80] [ACP-83] [ACP-86]", () => {
    const updates = encodeAcpUpdates(events("read", "succeeded", "ok"), STOCK_CLIENT);
    expect(updates.map((update) => Object(update).status ?? null)).toEqual([
      "pending",
      null,
      "in_progress",
      null,
      "completed",
    ]);
    expect(updates[0]).toMatchObject({ sessionUpdate: "tool_call", title: "tool", kind: "read" });
    expect(Object(updates.at(-1))["_meta"].harn).toMatchObject({
      durationMs: 5000,
      executionDurationMs: 7,
    });
  });

  it("A server tool call is in progress from the start [ACP-80]", () => {
    const server = { ...call, runBy: "server" } as const;
    const statuses = encodeAcpUpdates(
      [{ type: "tool_call.received", ...place, toolCall: server }],
      STOCK_CLIENT,
    );
    expect(statuses).toMatchObject([{ status: "pending" }, { status: "in_progress" }]);
  });

  it("A tool call from a hidden history is opened with its next update [ACP-55]", () => {
    const options = { upTo: 4, history: "hidden" } as const;
    const updates = encodeAcpUpdates(events("execute", "succeeded", "ok"), TERMINALS, options);
    expect(updates[0]).toMatchObject({
      sessionUpdate: "tool_call",
      title: "tool",
      content: [{ type: "terminal", terminalId: "t" }],
      _meta: { terminal_info: { terminal_id: "t" } },
    });
    expect(updates[1]).toMatchObject({ sessionUpdate: "tool_call_update", status: "in_progress" });
  });

  it("An ended tool call gets no more updates", () => {
    const over = events("read", "succeeded", "ok");
    const late = [...over, ...over.slice(1)];
    expect(encodeAcpUpdates(late, STOCK_CLIENT)).toEqual(encodeAcpUpdates(over, STOCK_CLIENT));
  });
});

describe("File change", () => {
  const diff = { path: "src/a.ts", oldText: null, newText: "a" };
  const plannedDiff = { type: "diff", path: "/work/src/a.ts", oldText: null, newText: "a" };
  const beside = { diffs: [diff], locations: [{ path: "src/a.ts", line: 3 }] };

  it("A file change has an absolute path [ACP-87] [ACP-88]", () => {
    const last = encodeAcpUpdates(events("edit", "succeeded", "ok", beside), STOCK_CLIENT).at(-1);
    expect(last).toMatchObject({
      content: [plannedDiff, text("ok")],
      locations: [{ path: "/work/src/a.ts", line: 3 }],
    });
  });

  it("The diff stays in later updates, also after a denial [ACP-92]", () => {
    for (const ending of ["succeeded", "failed", "denied"] as const) {
      const contents = encodeAcpUpdates(events("edit", ending, "ok", beside), STOCK_CLIENT).flatMap(
        (update) => ("content" in update ? [update.content] : []),
      );
      expect(contents.length).toBeGreaterThan(0);
      for (const content of contents) expect(content).toContainEqual(plannedDiff);
    }
  });

  it("A diff of a long file is reduced to the changed lines or to a note [ACP-15]", () => {
    const lines = Array.from({ length: 5000 }, (_, at) => `line ${at}`);
    const oldText = lines.join("\n");
    const newText = lines.with(2500, "changed").join("\n");
    const long = { diffs: [{ path: "a", oldText, newText }] };
    const last = encodeAcpUpdates(events("edit", "succeeded", "ok", long), STOCK_CLIENT).at(-1);
    expect(Object(last).content[0]).toEqual({
      type: "diff",
      path: "/work/a",
      oldText: lines.slice(2497, 2504).join("\n"),
      newText: lines.with(2500, "changed").slice(2497, 2504).join("\n"),
    });
    const all = { diffs: [{ path: "a", oldText, newText: oldText.replaceAll("line", "row") }] };
    const named = encodeAcpUpdates(events("edit", "succeeded", "ok", all), STOCK_CLIENT).at(-1);
    expect(Object(named).content[0].content.text).toContain("/work/a is too long");
  });
});

describe("Command output", () => {
  const data = { exitCode: 3, signal: null };

  it("Output is fenced with a fence longer than any in the output [ACP-89]", () => {
    const last = (output: string): unknown =>
      Object(encodeAcpUpdates(events("execute", "succeeded", output), STOCK_CLIENT).at(-1)).content;
    expect(last("a *b*\n")).toEqual([text("```\na *b*\n```")]);
    expect(last("````\nx")).toEqual([text("`````\n````\nx\n`````")]);
    const read = encodeAcpUpdates(events("read", "succeeded", "a *b*"), STOCK_CLIENT).at(-1);
    expect(Object(read).content).toEqual([text("a *b*")]);
  });

  it("Output goes to the editor's terminal view under the tool call id [ACP-89] [ACP-90]", () => {
    const updates = encodeAcpUpdates(events("execute", "succeeded", "out\n", { data }), TERMINALS);
    const terminal_id = "t";
    const fed = updates.map((update) => {
      const { harn: _, ...terminal } = Object(update)["_meta"] ?? {};
      return terminal;
    });
    expect(fed).toEqual([
      { terminal_info: { terminal_id } },
      {},
      {},
      { terminal_output: { terminal_id, data: "\r\u001b[Khalf" } },
      { terminal_output: { terminal_id, data: "\r\u001b[Kout\n" } },
      { terminal_exit: { terminal_id, exit_code: 3, signal: null } },
    ]);
    const contents = updates.flatMap((update) => ("content" in update ? [update.content] : []));
    expect(contents).toEqual([[{ type: "terminal", terminalId: "t" }]]);
  });

  it("A client without terminal views receives no terminal [ACP-90]", () => {
    const encodedText = JSON.stringify(
      encodeAcpUpdates(events("execute", "succeeded", "x"), STOCK_CLIENT),
    );
    expect(encodedText).not.toContain("terminal");
    const reading = JSON.stringify(encodeAcpUpdates(events("read", "succeeded", "x"), TERMINALS));
    expect(reading).not.toContain("terminal");
  });

  it("A denied command shows the reason and no terminal [ACP-89]", () => {
    const last = encodeAcpUpdates(events("execute", "denied", "no"), TERMINALS).at(-1);
    expect(Object(last).content).toEqual([text("no")]);
  });

  it.each([
    ["a terminal", TERMINALS],
    ["text", STOCK_CLIENT],
  ])("Output as %s fits into the line limit [ACP-15]", (_, profile) => {
    const output = `first${"\u0007".repeat(300_000)}last`;
    const lines = encodeAcpUpdates(events("execute", "succeeded", output), profile).map((update) =>
      encodeUpdateLine("s", update),
    );
    expect(Math.max(...lines.map((line) => Buffer.byteLength(line)))).toBeLessThan(48 * 1024);
    if (profile !== TERMINALS) return;
    const written = lines
      .map((line): AcpSessionUpdate => JSON.parse(line).params.update)
      .map((update) => Object(update)["_meta"]?.terminal_output?.data ?? "")
      .join("");
    expect(written.endsWith(output)).toBe(true);
  });
});
