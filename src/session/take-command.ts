import type { Right } from "../domain/actor.ts";
import type { CommandReply, SessionCommand } from "../domain/session-command.ts";
import { toolError, toolSuccess } from "../domain/tool.ts";
import { attach, detach } from "./clients/attach-client.ts";
import type { Input } from "./input.ts";
import { refused } from "./refused.ts";
import { runOf } from "./tools/tools-state.ts";
import { closeStream } from "./turn/close-stream.ts";
import { finish } from "./turn/finish-turn.ts";
import type { Work } from "./work.ts";

type Commanded = Extract<Input, { readonly type: "commanded" }>;
type Of<Type extends SessionCommand["type"]> = Extract<SessionCommand, { readonly type: Type }>;

export function takeCommand(work: Work, commanded: Commanded): CommandReply {
  const { command, by, rights } = commanded;
  const wanted = rightFor(work, commanded);
  if (wanted !== null && !rights.includes(wanted)) {
    return refused("access_denied", `This needs the right to ${wanted}`);
  }
  switch (command.type) {
    case "prompt":
      return prompt(work, command);
    case "withdraw":
      return withdraw(work, command);
    case "cancel":
      return cancel(work, command);
    case "answer":
      return answer(work, command);
    case "attach":
      return attach(work, command);
    case "detach":
      return detach(work, command);
    case "answer-host": {
      const { requestId, outcome, payload } = command;
      const request = work.state.clients.requests.find((one) => one.requestId === requestId);
      if (request === undefined) return refused("not_found", "This request is not open");
      if (by.clientId !== request.clientId) {
        return refused("access_denied", "This request was made to another client");
      }
      const said = payload === undefined ? {} : { payload };
      work.emit({ type: "host.answered", requestId, outcome, ...said });
      return { status: "accepted" };
    }
    case "title":
      work.emit({ type: "session.titled", title: command.title });
      return { status: "accepted" };
    default:
      return command satisfies never;
  }
}

/** What is one's own needs no right over others. */
function rightFor({ state }: Work, { command, by }: Commanded): Right | null {
  switch (command.type) {
    case "prompt":
    case "withdraw":
      return "prompt";
    case "answer":
      return "approve";
    case "cancel": {
      const owner = state.turn.current?.by?.principal;
      return owner !== undefined && owner === by.principal ? "prompt" : "control";
    }
    case "attach":
      return command.mode === "controller" ? "control" : null;
    case "detach":
      return command.clientId === by.clientId ? null : "control";
    case "title":
      return "control";
    case "answer-host":
      return null;
    default:
      return command satisfies never;
  }
}

function prompt(work: Work, { content }: Of<"prompt">): CommandReply {
  if (!content.some(({ text }) => text.trim() !== "")) {
    return refused("invalid_message", "The prompt is empty; say something");
  }
  if (work.state.turn.queue.length >= MAX_QUEUE) {
    return refused("conflict", `${MAX_QUEUE} prompts wait already; wait for the turn that runs`);
  }
  const promptId = work.ids.next("prompt");
  work.emit({ type: "prompt.accepted", promptId, content });
  return { status: "accepted", promptId };
}

const MAX_QUEUE = 100;

function withdraw(work: Work, { promptId }: Of<"withdraw">): CommandReply {
  if (!work.state.turn.queue.some((queued) => queued.promptId === promptId)) {
    return refused("not_found", "This prompt does not wait: its turn has begun, or it never was");
  }
  work.emit({ type: "prompt.withdrawn", promptId, reason: "withdrawn" });
  return { status: "accepted", promptId };
}

/** Cancelling what is not there is no error: it may have ended a moment ago. */
function cancel(work: Work, { turnId }: Of<"cancel">): CommandReply {
  const { current } = work.state.turn;
  if (current === null || (turnId !== undefined && turnId !== current.turnId)) {
    return { status: "accepted" };
  }
  if (current.stage.type === "calling") {
    const { call } = current.stage;
    closeStream(work, call, "The turn was cancelled");
    const how = { outcome: "cancelled", reason: null, usage: null } as const;
    work.emit({ type: "call.finished", callId: call.callId, ...how });
  }
  finish(work, current, { outcome: "cancelled", reason: null });
  return { status: "accepted", turnId: current.turnId };
}

function answer(work: Work, command: Of<"answer">): CommandReply {
  const { approvalId, decision, reason, input } = command;
  const asked = work.state.approvals.pending.find((one) => one.approvalId === approvalId);
  if (asked === undefined || asked.deadline <= work.at) {
    return refused("conflict", "This approval is not open: it was answered, or its time is over");
  }
  if (!asked.options.includes(decision)) {
    const wanted = asked.options.join(", ");
    return refused("invalid_option", `"${decision}" is no answer to this; it takes ${wanted}`);
  }
  work.emit({
    type: "approval.resolved",
    approvalId,
    decision,
    by: "person",
    ...(reason !== undefined && { reason }),
    ...(input !== undefined && { input }),
  });
  closeAnswered(work, asked.about, command);
  return { status: "accepted" };
}

/** Answers that let nothing run close the call. */
function closeAnswered(work: Work, toolCallId: string, { decision, reason }: Of<"answer">): void {
  const run = runOf(work.state.tools, toolCallId);
  if (run === undefined) return;
  const callId = run.call?.id ?? "";
  const why = reason === undefined ? "" : ` The reason given: ${reason}`;
  if (decision === "deny") {
    const result = toolError(callId, `${run.name} was not run: it was denied.${why}`);
    work.emit({ type: "tool.finished", toolCallId, ending: "denied", result });
  } else if (decision === "done") {
    const text = `${run.name} did its work; its output was lost when the bridge was killed.${why}`;
    const result = toolSuccess(callId, text);
    work.emit({ type: "tool.finished", toolCallId, ending: "succeeded", result });
  } else if (decision === "failed") {
    const result = toolError(callId, `${run.name} failed when the bridge was killed.${why}`);
    work.emit({ type: "tool.finished", toolCallId, ending: "failed", result });
  }
}
