import type { Emit } from "../../domain/codec.ts";
import type { ApprovalRequested, ApprovalResolved } from "../../domain/events/approval-events.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import type {
  MessageSent,
  PromptAccepted,
  TurnFinished,
  TurnPaused,
  TurnStarted,
} from "../../domain/events/turn-events.ts";
import { formatPromptPart } from "../../domain/prompt.ts";
import { isTurnRejected } from "../../domain/provider/invocation-outcome.ts";
import { createApprovalMessage } from "./approval-message.ts";
import { readMessageId } from "./message-note.ts";
import { createTask, emitUpdate } from "./task-snapshot.ts";
import type { TaskFold } from "./task-state.ts";
import type { PlacedUpdate, TaskMessage, TaskStatus } from "./task.ts";

export function beginTask(
  fold: TaskFold,
  { promptId, content, note }: PromptAccepted,
  emit: Emit<PlacedUpdate>,
  envelope: Envelope,
): void {
  fold.promptId = promptId;
  fold.status = { state: "submitted", at: envelope.at };
  fold.history.push({
    messageId: readMessageId(note) ?? promptId,
    role: "user",
    parts: content.map((part) => ({ type: "text", text: formatPromptPart(part) })),
  });
  emitUpdate(fold, { type: "task", task: createTask(fold) }, emit, envelope);
}

export function startTurn(
  fold: TaskFold,
  { turnId, promptId }: TurnStarted,
  emit: Emit<PlacedUpdate>,
  envelope: Envelope,
): void {
  if (fold.promptId === null || promptId !== fold.promptId) return;
  fold.turnId = turnId;
  setStatus(fold, { state: "working" }, emit, envelope);
}

/** Sends a new status. */
export function setStatus(
  fold: TaskFold,
  status: Omit<TaskStatus, "at">,
  emit: Emit<PlacedUpdate>,
  envelope: Envelope,
): void {
  fold.status = { ...status, at: envelope.at };
  emitUpdate(fold, { type: "status", status: fold.status }, emit, envelope);
}

/** The client that sent the prompt runs tools itself, and the turn waits for their results. */
export function pauseTurn(
  fold: TaskFold,
  { toolCallIds }: TurnPaused,
  emit: Emit<PlacedUpdate>,
  envelope: Envelope,
): void {
  const text = `Waiting for the results of ${toolCallIds.length} tool calls from the client that sent the prompt`;
  const message = createAgentMessage(`${fold.turnId}-paused-${envelope.seq}`, text);
  setStatus(fold, { state: "input-required", message }, emit, envelope);
}

export function finishTurn(
  fold: TaskFold,
  event: TurnFinished,
  emit: Emit<PlacedUpdate>,
  envelope: Envelope,
): void {
  fold.openApprovals.clear();
  setStatus(fold, describeEnd(event), emit, envelope);
}

/** A turn which a cap ended is `failed`, because a peer that trusts `completed` would use partial work as a result. */
function describeEnd(event: TurnFinished): Omit<TaskStatus, "at"> {
  const { turnId, outcome, reason, failure } = event;
  switch (outcome) {
    case "completed":
      return { state: "completed" };
    case "cancelled":
      return { state: "canceled", reason: reason ?? "cancelled" };
    case "limited": {
      const text = `The turn was ended by a limit (${reason ?? "unknown"}). The results so far are valid but incomplete`;
      return {
        state: "failed",
        message: createAgentMessage(`${turnId}-end`, text),
        reason: reason ?? "limited",
      };
    }
    case "failed": {
      const text = failure?.message ?? `The turn failed (${reason ?? "unknown"})`;
      const state = isTurnRejected(event) ? "rejected" : "failed";
      return {
        state,
        message: createAgentMessage(`${turnId}-end`, text),
        reason: failure?.code ?? reason ?? "failed",
      };
    }
    default:
      return outcome satisfies never;
  }
}

/** Adds a message which a client sent into the running turn. */
export function addInjectedMessage(
  fold: TaskFold,
  { origin, messageId, content }: MessageSent,
): void {
  if (origin !== "inject") return;
  const parts = content.map((part) => ({ type: "text", text: formatPromptPart(part) }) as const);
  fold.history.push({ messageId, role: "user", parts });
}

export function addApproval(
  fold: TaskFold,
  request: ApprovalRequested,
  emit: Emit<PlacedUpdate>,
  envelope: Envelope,
): void {
  fold.openApprovals.set(request.approvalId, request);
  sendOpenRequest(fold, request, emit, envelope);
}

/** The task works again only after the last of its open requests was decided. */
export function removeApproval(
  fold: TaskFold,
  { approvalId }: ApprovalResolved,
  emit: Emit<PlacedUpdate>,
  envelope: Envelope,
): void {
  if (!fold.openApprovals.delete(approvalId)) return;
  fold.lastResolvedBy = envelope.actor?.principal;
  const [next] = fold.openApprovals.values();
  if (next === undefined) setStatus(fold, { state: "working" }, emit, envelope);
  else sendOpenRequest(fold, next, emit, envelope);
}

function sendOpenRequest(
  fold: TaskFold,
  request: ApprovalRequested,
  emit: Emit<PlacedUpdate>,
  envelope: Envelope,
): void {
  const message = createApprovalMessage(request);
  setStatus(fold, { state: "input-required", message }, emit, envelope);
}

export function createAgentMessage(messageId: string, text: string): TaskMessage {
  return { messageId, role: "agent", parts: [{ type: "text", text }] };
}
