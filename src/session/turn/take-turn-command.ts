import type { CommandReply, SessionCommand } from "../../domain/session-command.ts";
import { refused } from "../refused.ts";
import type { Work } from "../work.ts";
import { closeStream } from "./close-stream.ts";
import { finish } from "./finish-turn.ts";

type Of<Type extends SessionCommand["type"]> = Extract<SessionCommand, { readonly type: Type }>;

export function prompt(work: Work, { content }: Of<"prompt">): CommandReply {
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

export function withdraw(work: Work, { promptId }: Of<"withdraw">): CommandReply {
  if (!work.state.turn.queue.some((queued) => queued.promptId === promptId)) {
    return refused("not_found", "This prompt does not wait: its turn has begun, or it never was");
  }
  work.emit({ type: "prompt.withdrawn", promptId, reason: "withdrawn" });
  return { status: "accepted", promptId };
}

/** Cancelling what is not there is no error: it may have ended a moment ago. */
export function cancel(work: Work, { turnId }: Of<"cancel">): CommandReply {
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
