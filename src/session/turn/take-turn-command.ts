import type { Actor } from "../../domain/actor.ts";
import type { PromptPart } from "../../domain/agent-event.ts";
import type { CommandReply, SessionCommand } from "../../domain/session-command.ts";
import { refused } from "../refused.ts";
import { agentOf, type Work } from "../work.ts";
import {
  problemWithContent,
  problemWithNote,
  problemWithOptions,
  problemWithPlace,
} from "./check-prompt.ts";
import { closeStream } from "./close-stream.ts";
import { finish } from "./finish-turn.ts";

type Of<Type extends SessionCommand["type"]> = Extract<
  SessionCommand<PromptPart>,
  { readonly type: Type }
>;

export function prompt(work: Work, command: Of<"prompt">): CommandReply {
  const { content, messages, options, note } = command;
  const agent = agentOf(work);
  const problem =
    problemWithPlace(command, work.state) ??
    problemWithContent(content, agent) ??
    problemWithOptions(options, agent) ??
    problemWithNote(note);
  if (problem !== undefined) return problem;
  if (work.state.turn.queue.length >= MAX_QUEUE) {
    return refused("conflict", `${MAX_QUEUE} prompts wait already; wait for the turn that runs`);
  }
  const promptId = work.ids.next("prompt");
  work.emit({
    type: "prompt.accepted",
    promptId,
    content,
    ...(messages !== undefined && { messages }),
    ...(options !== undefined && { options }),
    ...(note !== undefined && { note }),
  });
  return { status: "accepted", promptId, seq: work.state.seq };
}

const MAX_QUEUE = 100;

export function withdraw(work: Work, { promptId }: Of<"withdraw">): CommandReply {
  if (!work.state.turn.queue.some((queued) => queued.promptId === promptId)) {
    return refused("not_found", "This prompt does not wait: its turn has begun, or it never was");
  }
  work.emit({ type: "prompt.withdrawn", promptId, reason: "withdrawn" });
  return { status: "accepted", promptId };
}

/** Which prompts there were is not in the state: whoever sends this has looked it up in the log. */
export function forget(work: Work, { promptId }: Of<"forget">): CommandReply {
  work.emit({ type: "prompt.forgotten", promptId });
  return { status: "accepted" };
}

/** `readers` is how many follow the session beside the sender. */
interface Canceller {
  readonly by: Actor;
  readonly readers?: number;
}

/** Cancelling what is not there is no error: it may have ended a moment ago. */
export function cancel(
  work: Work,
  { turnId, unlessWatched, besides = 0 }: Of<"cancel">,
  from: Canceller,
): CommandReply {
  const { current } = work.state.turn;
  if (current === null || (turnId !== undefined && turnId !== current.turnId)) {
    return { status: "accepted" };
  }
  if (unlessWatched === true && isWatched(work, from, besides)) return { status: "accepted" };
  if (current.stage.type === "calling") {
    const { call } = current.stage;
    closeStream(work, call, "The turn was cancelled");
    const how = { outcome: "cancelled", reason: null, usage: null } as const;
    work.emit({ type: "call.finished", callId: call.callId, ...how });
  }
  finish(work, current, { outcome: "cancelled", reason: null });
  return { status: "accepted", turnId: current.turnId };
}

function isWatched({ state }: Work, { by, readers = 0 }: Canceller, besides: number): boolean {
  const { attached } = state.clients;
  return readers > besides || attached.some(({ clientId }) => clientId !== by.clientId);
}
