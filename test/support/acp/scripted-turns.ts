import type { SessionEvent } from "../../../src/domain/events/session-event.ts";
import {
  createToolCall,
  createToolError,
  createToolSuccess,
} from "../../../src/domain/tools/tool-call.ts";
import type { ScriptedTurn } from "../session/scripted-sessions.ts";
import { formatPromptPart } from "../../../src/domain/prompt.ts";

/** The events of a text block. */
export function textEvents(messageId: string, ...pieces: readonly string[]): SessionEvent[] {
  const place = { messageId, block: 0 };
  return [
    ...pieces.map((text) => ({ type: "text.delta", ...place, text }) as const),
    { type: "text.finished", ...place, text: pieces.join("") },
  ];
}

/** A turn that repeats the prompt and ends. */
export function echoTurn(turn: ScriptedTurn): void {
  const promptText = turn.prompt.map(formatPromptPart).join(" ");
  turn.say(...textEvents(`msg_${turn.turnId}`, "You said: ", promptText));
  turn.end();
}

/** A turn with a thought, text, a diagnostic and a tool with progress. */
export function busyTurn(turn: ScriptedTurn): void {
  const toolCallId = `tool_${turn.turnId}`;
  const place = { messageId: `msg_${turn.turnId}`, block: 0 };
  const call = createToolCall({ id: "c", name: "ls", inputText: "{}", runBy: "client" });
  turn.say(
    { type: "thought.finished", ...place, text: "Let me see" },
    ...textEvents(place.messageId, "I will ", "look."),
    {
      type: "diagnostic.raised",
      diagnostic: { code: "block_stop_missing", message: "A block did not end" },
    },
    { type: "tool_call.opened", toolCallId, ...place, name: "ls" },
    { type: "tool_call.input.delta", toolCallId, text: "{}" },
    { type: "tool_call.received", toolCallId, ...place, toolCall: call },
    { type: "tool.started", toolCallId, attempt: 1, digest: "d" },
    { type: "tool.progress", toolCallId, text: "half" },
    {
      type: "tool.finished",
      toolCallId,
      ending: "succeeded",
      result: createToolSuccess("c", "a b"),
    },
  );
  turn.end();
}

/** A turn that requests approval for a tool and waits. */
export function askingTurn(turn: ScriptedTurn): void {
  const toolCallId = `tool_${turn.turnId}`;
  const call = createToolCall({ id: "c", name: "rm", inputText: '{"path":"a"}', runBy: "client" });
  turn.say(
    {
      type: "tool_call.received",
      toolCallId,
      messageId: `msg_${turn.turnId}`,
      block: 0,
      toolCall: call,
    },
    {
      type: "approval.requested",
      approvalId: `appr_${turn.turnId}`,
      question: "run",
      options: ["allow", "deny"],
      subjectId: toolCallId,
      action: "rm a",
      input: { path: "a" },
      deadline: 0,
    },
  );
}

/** The events of the session after the decision about `askingTurn`. */
export function answeredEvents(turnId: string, decision: string): SessionEvent[] {
  const toolCallId = `tool_${turnId}`;
  const started: SessionEvent = { type: "tool.started", toolCallId, attempt: 1, digest: "d" };
  const end = { outcome: "completed", reason: null, usage: null, steps: 1 } as const;
  const finished: SessionEvent =
    decision === "allow"
      ? {
          type: "tool.finished",
          toolCallId,
          ending: "succeeded",
          result: createToolSuccess("c", "gone"),
        }
      : {
          type: "tool.finished",
          toolCallId,
          ending: "denied",
          result: createToolError("c", "denied"),
        };
  return [
    ...(decision === "allow" ? [started] : []),
    finished,
    { type: "turn.finished", turnId, ...end },
  ];
}
