import type { SessionEvent } from "../../src/domain/events/session-event.ts";
import {
  createToolCall,
  createToolError,
  createToolSuccess,
} from "../../src/domain/tools/tool-call.ts";

const NOON = Date.UTC(2026, 10, 16, 12);

const inBlock = (messageId: string, block: number) => ({ messageId, block });

/** A turn with thoughts, a tool which needs approval, and a message. */
export function toolTurn(): SessionEvent[] {
  return [...beforeApproval(), ...afterApproval()];
}

export function beforeApproval(): SessionEvent[] {
  const input = { command: "npm test", directory: "/srv/shop" };
  const call = createToolCall({
    id: "p1",
    name: "run_command",
    inputText: JSON.stringify(input),
    runBy: "client",
  });
  return [
    {
      type: "prompt.accepted",
      promptId: "prompt_1",
      content: [{ type: "text", text: "Do the tests of the shop pass?" }],
    },
    { type: "turn.started", turnId: "turn_1", promptId: "prompt_1" },
    { type: "message.started", messageId: "msg_1", role: "assistant" },
    { type: "thought.delta", ...inBlock("msg_1", 0), text: "They want the tests run. " },
    {
      type: "thought.finished",
      ...inBlock("msg_1", 0),
      text: "They want the tests run. I have a tool for that.",
    },
    { type: "text.delta", ...inBlock("msg_1", 1), text: "Let me " },
    { type: "text.delta", ...inBlock("msg_1", 1), text: "run them." },
    { type: "text.finished", ...inBlock("msg_1", 1), text: "Let me run them." },
    {
      type: "tool_call.opened",
      toolCallId: "tool_1",
      ...inBlock("msg_1", 2),
      name: "run_command",
    },
    { type: "tool_call.input.delta", toolCallId: "tool_1", text: JSON.stringify(input) },
    { type: "tool_call.received", toolCallId: "tool_1", ...inBlock("msg_1", 2), toolCall: call },
    { type: "message.finished", messageId: "msg_1", reason: "tool_use" },
    {
      type: "approval.requested",
      approvalId: "appr_1",
      question: "run",
      options: ["allow", "deny"],
      subjectId: "tool_1",
      action: "run_command npm test",
      input,
      deadline: NOON,
    },
  ];
}

/** An approval request with all details which a rule can define. */
export function riskyQuestion(prompt: string, risk: string): SessionEvent {
  const input = { command: "rm -rf build" };
  return {
    type: "approval.requested",
    approvalId: "appr_5",
    question: "run",
    options: ["allow", "allow-always", "deny"],
    subjectId: "tool_1",
    action: "run_command rm -rf build",
    input,
    deadline: NOON,
    approvers: 2,
    decision: {
      action: "ask",
      reason: "Deleting is asked about",
      rule: { source: "rules", action: "ask", id: "deleting", index: 0 },
      labels: ["approval_required", "command_rule"],
      context: {
        tool: "run_command",
        kind: "execute",
        sideEffect: "process_exec",
        paths: [],
        capabilities: [],
        repeats: 0,
      },
      approvers: 2,
      approval: { prompt, risk },
    },
    diffs: [{ path: "notes.md", oldText: "a\nb\n", newText: "a\nc\n" }],
  };
}

export function afterApproval(): SessionEvent[] {
  return [
    { type: "approval.resolved", approvalId: "appr_1", decision: "allow", resolvedBy: "person" },
    {
      type: "tool.started",
      toolCallId: "tool_1",
      attempt: 1,
      digest: "d1",
      approvalId: "appr_1",
    },
    {
      type: "tool.finished",
      toolCallId: "tool_1",
      ending: "succeeded",
      result: createToolSuccess("p1", "✓ 42 tests pass"),
      durationMs: 1234,
    },
    { type: "message.started", messageId: "msg_2", role: "assistant" },
    { type: "text.delta", ...inBlock("msg_2", 0), text: "All 42 " },
    { type: "text.finished", ...inBlock("msg_2", 0), text: "All 42 pass." },
    { type: "message.finished", messageId: "msg_2", reason: "end_turn" },
    {
      type: "turn.finished",
      turnId: "turn_1",
      outcome: "completed",
      reason: "end_turn",
      usage: null,
      steps: 2,
    },
  ];
}

/** Approval requests of a recovery: for an interrupted tool and for a lost invocation. */
export function recoveryQuestions(): SessionEvent[] {
  const inputText = '{"to":"ada@example.com","subject":"Invoice 7"}';
  const call = createToolCall({ id: "p2", name: "send_mail", inputText, runBy: "client" });
  const input = call.input ?? null;
  return [
    {
      type: "prompt.accepted",
      promptId: "prompt_2",
      content: [{ type: "text", text: "Send Ada her invoice." }],
    },
    { type: "turn.started", turnId: "turn_2", promptId: "prompt_2" },
    { type: "message.started", messageId: "msg_3", role: "assistant" },
    { type: "tool_call.received", toolCallId: "tool_2", ...inBlock("msg_3", 0), toolCall: call },
    { type: "message.finished", messageId: "msg_3", reason: "tool_use" },
    { type: "tool.started", toolCallId: "tool_2", attempt: 1, digest: "d2" },
    { type: "session.recovered", epoch: 2 },
    {
      type: "approval.requested",
      approvalId: "appr_2",
      question: "outcome",
      options: ["done", "failed", "run-again"],
      subjectId: "tool_2",
      action: "send_mail",
      input,
      deadline: NOON,
    },
    { type: "invocation.lost", invocationId: "call_9" },
    {
      type: "approval.requested",
      approvalId: "appr_3",
      question: "lost-invocation",
      options: ["continue", "reseed", "stop"],
      subjectId: "call_9",
      action: "The call of the agent was lost",
      input: null,
      deadline: NOON,
    },
  ];
}

/** A string which would be markup or code if it were not treated as text. */
export const HOSTILE = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script></script>\u2028"'&`;

export function hostileTurn(): SessionEvent[] {
  const call = createToolCall({
    id: "p3",
    name: HOSTILE,
    inputText: JSON.stringify({ [HOSTILE]: HOSTILE }),
    runBy: "client",
  });
  return [
    { type: "session.title_changed", title: HOSTILE },
    {
      type: "prompt.accepted",
      promptId: "prompt_3",
      content: [{ type: "text", text: HOSTILE }],
    },
    { type: "turn.started", turnId: "turn_3", promptId: "prompt_3" },
    { type: "message.started", messageId: "msg_4", role: "assistant" },
    { type: "text.finished", ...inBlock("msg_4", 0), text: HOSTILE },
    { type: "thought.finished", ...inBlock("msg_4", 1), text: HOSTILE },
    {
      type: "tool_call.received",
      toolCallId: "tool_3",
      ...inBlock("msg_4", 2),
      toolCall: call,
      problem: HOSTILE,
    },
    {
      type: "approval.requested",
      approvalId: "appr_4",
      question: "run",
      options: ["allow", "deny"],
      subjectId: "nothing",
      action: HOSTILE,
      input: { [HOSTILE]: HOSTILE },
      deadline: NOON,
    },
    {
      type: "tool.finished",
      toolCallId: "tool_3",
      ending: "failed",
      result: createToolError("p3", HOSTILE),
    },
    {
      type: "turn.finished",
      turnId: "turn_3",
      outcome: "failed",
      reason: HOSTILE,
      usage: null,
      steps: 1,
    },
  ];
}
