import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Envelope } from "../../domain/events/envelope.ts";
import type { SessionEvent } from "../../domain/events/session-event.ts";
import type { ToolItem } from "./session-view.ts";
import { EVENT_VERSIONS, readStoredEvent } from "../../domain/events/upcast.ts";
import { createToolSuccess } from "../../domain/tools/tool-call.ts";
import {
  afterApproval,
  beforeApproval,
  recoveryQuestions,
  riskyQuestion,
  toolTurn,
} from "../../../test/portal/scripted-turns.ts";
import { reduceSession } from "./reduce-session.ts";
import { createSessionFold, type SessionFold } from "./session-fold.ts";
import { BEFORE_TURNS } from "./view-draft.ts";

/** Numbers the events from 1, one per millisecond. */
function toEnvelopes(events: readonly SessionEvent[], first = 1): Envelope[] {
  return events.map((event, index) => ({
    sessionId: "ses_1",
    seq: first + index,
    at: 1000 + first + index,
    actor: { kind: "user", principal: "ada" },
    visibility: "public",
    event,
  }));
}

function reduce(...events: readonly SessionEvent[]): SessionFold {
  return reduceSession(createSessionFold("ses_1"), toEnvelopes(events));
}

function readGoldenLog(): readonly Envelope[] {
  const path = join(import.meta.dirname, "../../../test/store/golden/log-0.1.read.jsonl");
  const lines = readFileSync(path, "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}

/** One line per item. */
function outline({ turns }: SessionFold): string[] {
  return turns.flatMap(({ turnId, stage, items }) => [
    `${turnId} ${stage}`,
    ...items.map((item) => {
      if (item.kind === "tool") return `  tool ${item.name} ${item.stage} ${item.ending}`;
      return item.kind === "notice" ? `  ${item.level}: ${item.text}` : `  ${item.kind}`;
    }),
  ]);
}

const promptOf = (id: string, text: string): SessionEvent => ({
  type: "prompt.accepted",
  promptId: id,
  content: [{ type: "text", text }],
});

const started: SessionEvent = { type: "turn.started", turnId: "turn_1", promptId: "prompt_1" };

describe("The view of one turn", () => {
  it("A turn with a thought, an approved tool and a message becomes five items", () => {
    const { turns, openApprovals, title, queue } = reduce(...toolTurn());
    expect({ openApprovals, title, queue }).toEqual({
      openApprovals: [],
      title: "Do the tests of the shop pass?",
      queue: [],
    });
    const [, , , , , , , , , , received] = toolTurn();
    const call = received?.type === "tool_call.received" ? received.toolCall : undefined;
    const [request, resolution] = [beforeApproval().at(-1), afterApproval()[0]];
    const ended = { isStreaming: false };
    expect(turns).toEqual([
      {
        turnId: "turn_1",
        promptId: "prompt_1",
        principal: "ada",
        startedAt: 1002,
        end: { at: 1021, outcome: "completed", reason: "end_turn", usage: null, steps: 2 },
        stage: "done",
        usage: null,
        items: [
          {
            kind: "user",
            key: "prompt:prompt_1",
            at: 1002,
            seq: 2,
            forkSeq: 2,
            content: [{ type: "text", text: "Do the tests of the shop pass?" }],
            principal: "ada",
          },
          {
            ...ended,
            kind: "thought",
            key: "msg_1:0",
            at: 1004,
            seq: 4,
            text: "They want the tests run. I have a tool for that.",
            durationMs: 1,
          },
          {
            ...ended,
            kind: "text",
            key: "msg_1:1",
            at: 1006,
            seq: 6,
            // The result of the tool which the message has called.
            forkSeq: 16,
            messageId: "msg_1",
            text: "Let me run them.",
            interrupted: false,
          },
          {
            kind: "tool",
            key: "tool:tool_1",
            at: 1009,
            seq: 9,
            toolCallId: "tool_1",
            messageId: "msg_1",
            name: "run_command",
            stage: "ended",
            inputText: call?.inputText,
            call,
            approvals: [
              {
                approvalId: "appr_1",
                at: 1013,
                request,
                votes: [],
                resolution: { ...resolution, at: 1014, decidedBy: "ada" },
              },
            ],
            attempt: 1,
            startedAt: 1015,
            progress: null,
            ending: "succeeded",
            result: createToolSuccess("p1", "✓ 42 tests pass"),
            durationMs: 1234,
            diffs: [],
          },
          {
            ...ended,
            kind: "text",
            key: "msg_2:0",
            at: 1018,
            seq: 18,
            forkSeq: 19,
            messageId: "msg_2",
            text: "All 42 pass.",
            interrupted: false,
          },
        ],
      },
    ]);
  });

  it("A tool call that waits shows the changes of its request", () => {
    const request = riskyQuestion("Delete the build?", "high");
    const view = reduce(...beforeApproval().slice(0, -1), request);
    const tool = view.turns[0]?.items.find((item): item is ToolItem => item.kind === "tool");
    expect(tool).toMatchObject({
      stage: "waiting",
      approvals: [{ approvalId: "appr_5", request, resolution: null }],
      diffs: [{ path: "notes.md", oldText: "a\nb\n", newText: "a\nc\n" }],
    });
  });

  it("The stage of a turn follows its invocations, tools, approvals and submitted results", () => {
    const invocation = { invocationId: "inv_1", upstreamId: "up_1" };
    const events: SessionEvent[] = [
      promptOf("prompt_1", "Hello"),
      started,
      { type: "invocation.started", ...invocation, purpose: "prompt" },
      ...beforeApproval().slice(8, 11),
      {
        type: "invocation.finished",
        ...invocation,
        outcome: "completed",
        reason: null,
        usage: null,
      },
      ...beforeApproval().slice(12),
      ...afterApproval().slice(0, 3),
      { type: "turn.paused", turnId: "turn_1", toolCallIds: ["tool_2"] },
      { type: "tool_results.submitted", promptId: "p", turnId: "turn_1", toolCallIds: ["tool_2"] },
    ];
    const stages = events.map((_, end) => reduce(...events.slice(0, end + 1)).turns[0]?.stage);
    expect(stages).toEqual([
      undefined,
      "starting",
      "model",
      "model",
      "model",
      "model",
      "starting",
      "person",
      "starting",
      "tool",
      "starting",
      "results",
      "starting",
    ]);
  });

  it("The end of a turn ends its streaming text and its tool calls without a result", () => {
    const view = reduce(
      promptOf("prompt_1", "Hello"),
      started,
      { type: "text.delta", messageId: "msg_1", block: 0, text: "One " },
      { type: "thought.delta", messageId: "msg_1", block: 1, text: "Two" },
      {
        type: "tool_call.opened",
        toolCallId: "tool_1",
        messageId: "msg_1",
        block: 2,
        name: "look",
      },
      {
        type: "turn.finished",
        turnId: "turn_1",
        outcome: "cancelled",
        reason: null,
        usage: null,
        steps: 1,
      },
    );
    const items = view.turns[0]?.items.slice(1);
    expect(items).toMatchObject([
      { kind: "text", text: "One ", isStreaming: false },
      { kind: "thought", text: "Two", isStreaming: false, durationMs: 2 },
      { kind: "tool", stage: "ended", ending: "cancelled", result: null },
    ]);
    expect(view.facts).toMatchObject({ streaming: [], openTools: [], runningTools: [] });
  });

  it("A replaced message keeps one text", () => {
    const view = reduce(
      promptOf("prompt_1", "Hello"),
      started,
      { type: "text.delta", messageId: "msg_1", block: 0, text: "Secret" },
      { type: "text.delta", messageId: "msg_1", block: 1, text: " words" },
      { type: "message.replaced", messageId: "msg_1", text: "[removed]" },
    );
    const texts = view.turns[0]?.items.flatMap((item) => (item.kind === "text" ? [item.text] : []));
    expect(texts).toEqual(["[removed]", ""]);
  });

  it("Requests about an interrupted tool belong to its item, and requests about the turn are items", () => {
    const view = reduce(...recoveryQuestions());
    expect(outline(view)).toEqual([
      "turn_2 person",
      "  user",
      "  tool send_mail waiting null",
      "  info: The bridge restarted and resumed this session",
      "  warning: The connection to the agent was lost",
      "  approval",
    ]);
    expect(view.openApprovals.map(({ approvalId }) => approvalId)).toEqual(["appr_2", "appr_3"]);
  });

  it("A request about a budget carries the budget that was reached", () => {
    const reached = {
      type: "budget.reached",
      scope: "turn",
      unit: "tokens",
      used: 9,
      cap: 8,
    } as const;
    const view = reduce(promptOf("prompt_1", "Hello"), started, reached, {
      type: "approval.requested",
      approvalId: "appr_1",
      question: "budget",
      options: ["continue", "stop"],
      subjectId: "turn_1",
      action: "Continue beyond the budget",
      input: null,
      deadline: 5000,
    });
    expect(view.openApprovals.map(({ budget }) => budget)).toEqual([reached]);
  });
});

describe("The view of the queue", () => {
  const content = [{ type: "text", text: "Green tea" }] as const;

  it("Prompts, messages and reminders wait in the queue until they are used, changed or revoked", () => {
    const reminder = {
      body: "Read it again",
      tags: [],
      mode: "finish_step",
      roleHint: "system",
      authority: "advisory",
      source: "bridge",
      propagate: "none",
    } as const;
    const queued: SessionEvent[] = [
      promptOf("prompt_1", "Hello"),
      started,
      promptOf("prompt_2", "Next"),
      { type: "inject.accepted", messageId: "msg_1", mode: "steer", content: [] },
      { type: "inject.replaced", messageId: "msg_1", content },
      { type: "inject.accepted", messageId: "msg_2", mode: "queue", content },
      { type: "reminder.queued", reminderId: "rem_1", reminder },
    ];
    const before = reduce(...queued);
    expect(before.queue).toEqual([
      {
        kind: "prompt",
        id: "prompt_2",
        content: [{ type: "text", text: "Next" }],
        principal: "ada",
        at: 1003,
      },
      { kind: "message", id: "msg_1", mode: "steer", content, principal: "ada", at: 1004 },
      { kind: "message", id: "msg_2", mode: "queue", content, principal: "ada", at: 1006 },
      { kind: "reminder", id: "rem_1", reminder, principal: "ada", at: 1007 },
    ]);
    const after = reduceSession(
      before,
      toEnvelopes(
        [
          { type: "message.sent", messageId: "msg_1", content, origin: "inject" },
          { type: "reminder.emitted", reminderId: "rem_1", reminder, renderedRole: "user" },
          { type: "prompt.withdrawn", promptId: "prompt_2", reason: "cancelled" },
          { type: "prompt.accepted", promptId: "prompt_3", content, messageId: "msg_2" },
        ],
        8,
      ),
    );
    expect(after.queue).toEqual([
      { kind: "prompt", id: "prompt_3", content, principal: "ada", at: 1011 },
    ]);
    expect(after.turns[0]?.items.slice(1)).toEqual([
      {
        kind: "user",
        key: "sent:msg_1",
        at: 1008,
        seq: 8,
        forkSeq: 8,
        content,
        principal: "ada",
        injected: "steer",
      },
      { kind: "reminder", key: "reminder:9", at: 1009, seq: 9, reminderId: "rem_1", reminder },
    ]);
  });
});

describe("Imported history", () => {
  it("History from before the first turn is a separate entry, with the results of its tools", () => {
    const toolCall = {
      id: "c1",
      name: "look",
      inputText: "{}",
      input: {},
      runBy: "client",
    } as const;
    const view = reduce({
      type: "history.imported",
      messages: [
        { role: "user", blocks: [{ type: "text", text: "Is there tea?" }] },
        { role: "assistant", blocks: [{ type: "tool-call", toolCall }] },
        { role: "user", blocks: [{ type: "tool-result", result: createToolSuccess("c1", "Yes") }] },
        { role: "assistant", blocks: [{ type: "text", text: "There is." }] },
      ],
    });
    expect(view.turns.map(({ turnId }) => turnId)).toEqual([BEFORE_TURNS]);
    expect(outline(view).slice(1)).toEqual(["  user", "  tool look ended succeeded", "  text"]);
  });
});

describe("Workers in the view of a session", () => {
  it("A worker is one card, which each event of its life changes", () => {
    const usage = { tokens: 0, seconds: 0, toolCalls: 0, invocations: 0, usd: 0 };
    const spawned = {
      type: "worker.spawned",
      workerId: "worker_1",
      sessionId: "ses_w",
      agent: "helper",
      name: "counter",
      task: "Count",
      mode: "delegated_stage",
      isBackground: true,
      isRetriggerable: true,
      cycle: 1,
      prompt: "Count",
    } as const;
    const result = { text: "Four.", usage };
    const events = toEnvelopes([
      spawned,
      { type: "worker.waiting_for_input", workerId: "worker_1", result },
      { type: "worker.progressed", workerId: "worker_1", payload: "again" },
      { ...spawned, cycle: 2, prompt: "again" },
      { type: "worker.cancelled", workerId: "worker_1", reason: "closed" },
      { type: "worker.closed", workerId: "worker_1", usage },
    ]);
    const view = reduceSession(createSessionFold("ses_1"), events);
    const items = view.turns.flatMap((turn) => turn.items);
    expect(items).toMatchObject([
      {
        kind: "worker",
        result: "Four.",
        worker: { sessionId: "ses_w", status: "cancelled", cycle: 2, name: "counter" },
      },
    ]);
  });
});

describe("The view of a log with every event", () => {
  it("The golden log becomes a view with all of its turns, notices and settings", () => {
    const view = reduceSession(createSessionFold("ses_golden"), readGoldenLog());
    expect(outline(view)).toEqual([
      "turn_1 done",
      "  user",
      "  thought",
      "  text",
      "  tool look ended succeeded",
      "  tool look ended cancelled",
      "  warning: A field of no meaning",
      "  info: Unknown event of the provider: weather",
      "  warning: The connection to the agent was lost",
      "  info: The bridge restarted and resumed this session",
      "turn_2 tool",
      "  user",
      "  tool write allowed null",
      "  user",
      "  text",
      "  tool weather host null",
      "  user",
      "  warning: Earlier approvals are no longer valid, and people are asked again",
      "  info: Mode changed to Ask by ada",
      "  info: Budget raised to 2,000 tokens per turn",
      "  reminder",
      "  reminder",
      "  info: The agent stopped waiting because nothing happened",
      "  info: The conversation is being compacted",
      "  info: The conversation was not compacted, because no earlier message can be removed",
      "  info: The conversation is being compacted",
      "  compaction",
      "  info: Request to the model: 2 blocks left out (squash_failed_calls), 1 secret replaced",
      "  worker",
    ]);
    const usage = {
      inputTokens: 120,
      outputTokens: 34,
      cacheReadTokens: 5,
      cacheWriteTokens: 0,
      totalTokens: 159,
    };
    const { turns: _, queue, facts: __, agentSpec, plan, ...rest } = view;
    expect(rest).toEqual({
      artifactCount: 0,
      planDetails: null,
      workerCount: 1,
      sessionId: "ses_golden",
      seq: 107,
      updatedAt: 1_800_000_000_106,
      title: "Tea",
      agent: "demo",
      owner: "ada",
      lineage: null,
      workingDirectory: "/home/ada/tea",
      folders: ["/home/ada/lib"],
      mode: "ask",
      openApprovals: [],
      clients: [],
      controller: "client_1",
      grants: [],
      usage,
    });
    expect([queue.length, plan.length, agentSpec?.name]).toEqual([1, 2, "demo"]);
  });
});

describe("Batches of events", () => {
  it("A batch that the view already contains returns the same view", () => {
    const events = toEnvelopes(toolTurn());
    const view = reduceSession(createSessionFold("ses_1"), events);
    expect(reduceSession(view, events)).toBe(view);
    expect(reduceSession(view, events.slice(3, 9))).toBe(view);
    expect(reduceSession(view, [])).toBe(view);
  });

  it("A batch shares unchanged turns and items with the view before", () => {
    const before = reduce(...toolTurn(), ...recoveryQuestions());
    const delta: SessionEvent = { type: "text.delta", messageId: "msg_9", block: 0, text: "a" };
    const first = reduceSession(before, toEnvelopes([delta], 32));
    const second = reduceSession(first, toEnvelopes([delta], 33));
    expect(second.turns[0]).toBe(before.turns[0]);
    expect(second.turns[1]?.items.slice(0, 5)).toEqual(before.turns[1]?.items);
    for (const [position, item] of before.turns[1]?.items.entries() ?? []) {
      expect(second.turns[1]?.items[position]).toBe(item);
    }
    expect(second.turns[1]?.items.at(-1)).toMatchObject({ text: "aa", isStreaming: true });
    expect(first.turns[1]?.items.at(-1)).toMatchObject({ text: "a" });
    expect(second.queue).toBe(before.queue);
  });

  it("An older view can be continued again after a newer view was made of it", () => {
    const events = toEnvelopes(toolTurn());
    const early = reduceSession(createSessionFold("ses_1"), events.slice(0, 9));
    const once = reduceSession(early, events.slice(9));
    const delta: SessionEvent = { type: "text.delta", messageId: "msg_2", block: 0, text: "Other" };
    const first = reduceSession(createSessionFold("ses_1"), events.slice(0, 3));
    reduceSession(first, events.slice(3));
    const other = reduceSession(first, toEnvelopes([delta], 4));
    expect(other.turns[0]?.items.length).toBe(2);
    expect(other.turns[0]?.items[1]).toMatchObject({ text: "Other", isStreaming: true });
    expect(reduceSession(early, events.slice(9))).toEqual(once);
    expect(early.turns[0]?.items.at(-1)).toMatchObject({ kind: "tool", stage: "streaming" });
  });

  it("Event types of a newer bridge become one notice per turn", () => {
    const newer = (type: string): SessionEvent => JSON.parse(JSON.stringify({ type, x: 1 }));
    const view = reduce(
      promptOf("prompt_1", "Hello"),
      started,
      ...["skill.loaded", "worker.started", "skill.loaded", "constructor"].map(newer),
    );
    expect(view.seq).toBe(6);
    const stored = { type: "skill.loaded", version: 1, event: { type: "skill.loaded" } };
    const unknown = readStoredEvent(stored, EVENT_VERSIONS);
    const decoded = reduce(promptOf("prompt_1", "Hello"), started, unknown ?? started);
    expect(decoded.turns[0]?.items[1]).toMatchObject({
      key: "newer:turn_1",
      details: "skill.loaded",
    });
    expect(view.turns[0]?.items.slice(1)).toEqual([
      {
        kind: "notice",
        key: "newer:turn_1",
        at: 1003,
        seq: 3,
        level: "warning",
        text: "Some events are not shown: the bridge is newer than this page. Reload the page",
        details: "skill.loaded\nworker.started\nconstructor",
      },
    ]);
  });

  it("An event about an unknown tool, approval or grant changes nothing", () => {
    const view = reduce(
      { type: "tool.progress", toolCallId: "tool_9", text: "half" },
      {
        type: "approval.voted",
        approvalId: "appr_9",
        principal: "ada",
        decision: "allow",
        digest: "",
      },
      { type: "grant.revoked", grantId: "grant_9" },
      { type: "inject.revoked", messageId: "msg_9" },
    );
    expect(view).toEqual({ ...createSessionFold("ses_1"), seq: 4, updatedAt: 1004 });
  });

  it("Progress of a tool is shown while the tool runs", () => {
    const progress: SessionEvent = {
      type: "tool.progress",
      toolCallId: "tool_1",
      text: "half",
      amount: { progress: 1, total: 2 },
    };
    const view = reduce(...toolTurn().slice(0, 15), progress);
    const tool = view.turns[0]?.items.find((item): item is ToolItem => item.kind === "tool");
    expect(tool).toMatchObject({
      stage: "running",
      progress: { text: "half", amount: { progress: 1, total: 2 } },
    });
  });
});
