import { omitUndefined } from "../../data/omit-undefined.ts";
import type { Actor } from "../../domain/actor.ts";
import type { AgentSpec } from "../../domain/agent-spec.ts";
import type { Failure } from "../../domain/errors.ts";
import type { PromptPart } from "../../domain/prompt.ts";
import type { CommandReply, SessionCommand } from "../../domain/session-command.ts";
import type { Decision } from "../decision.ts";
import { refuse } from "../refuse-command.ts";
import { checkContent, checkNote, checkOptions, checkPromptPosition } from "./check-prompt.ts";
import { closeStream } from "./apply-provider-events.ts";
import { finishTurn } from "./finish-turn.ts";

type TurnCommand<Type extends SessionCommand["type"]> = Extract<
  SessionCommand<PromptPart>,
  { readonly type: Type }
>;

export function acceptPrompt(
  decision: Decision,
  command: TurnCommand<"prompt">,
  agent: AgentSpec,
): CommandReply {
  const { content, messages, options, note } = command;
  const problem =
    checkPromptPosition(command, decision.state) ??
    checkContent(content, agent) ??
    checkOptions(options, agent) ??
    checkNote(note);
  if (problem !== undefined) return problem;
  if (decision.state.turn.queue.length >= MAX_QUEUE) {
    return refuse(
      "conflict",
      `${MAX_QUEUE} prompts are already queued. Fix: wait for the running turn`,
    );
  }
  const promptId = decision.ids.next("prompt");
  decision.emit({
    type: "prompt.accepted",
    promptId,
    content,
    ...omitUndefined({ messages, options, note }),
  });
  return { status: "accepted", promptId, seq: decision.state.seq };
}

const MAX_QUEUE = 100;

export function withdrawPrompt(
  decision: Decision,
  { promptId }: TurnCommand<"withdraw-prompt">,
): CommandReply {
  if (!decision.state.turn.queue.some((queued) => queued.promptId === promptId)) {
    return refuse(
      "not_found",
      "This prompt is not queued: its turn has started, or it does not exist",
    );
  }
  decision.emit({ type: "prompt.withdrawn", promptId, reason: "withdrawn" });
  return { status: "accepted", promptId };
}

/** Withdraws every queued prompt. */
export function withdrawAllPrompts(decision: Decision, reason: string): void {
  for (const { promptId } of decision.state.turn.queue)
    decision.emit({ type: "prompt.withdrawn", promptId, reason });
}

/**
 * Hides a prompt from lookups by id. The state does not list all prompts: the sender checks first that the log contains
 * it.
 */
export function hidePrompt(
  decision: Decision,
  { promptId }: TurnCommand<"hide-prompt">,
): CommandReply {
  decision.emit({ type: "prompt.hidden", promptId });
  return { status: "accepted" };
}

/** `readerCount`: number of subscribers, excluding the sender. */
interface CancelSender {
  readonly actor: Actor;
  readonly readerCount?: number;
}

/** Cancels the running turn. Accepted without effect if there is none: the turn may have ended a moment ago. */
export function cancelTurn(
  decision: Decision,
  { turnId, unlessWatched, waitingReaders = 0 }: TurnCommand<"cancel">,
  sender: CancelSender,
): CommandReply {
  const { current } = decision.state.turn;
  if (current === null || (turnId !== undefined && turnId !== current.turnId)) {
    return { status: "accepted" };
  }
  if (unlessWatched === true && isWatchedByOthers(decision, sender, waitingReaders))
    return { status: "accepted" };
  if (current.stage.type === "invoking") {
    const { invocation } = current.stage;
    closeStream(decision, invocation, "The turn was cancelled");
    const resultFields = { outcome: "cancelled", reason: null, usage: null } as const;
    decision.emit({
      type: "invocation.finished",
      invocationId: invocation.invocationId,
      ...resultFields,
    });
  }
  finishTurn(decision, current, { outcome: "cancelled", reason: null });
  return { status: "accepted", turnId: current.turnId };
}

function isWatchedByOthers(
  { state }: Decision,
  { actor, readerCount = 0 }: CancelSender,
  waitingReaders: number,
): boolean {
  const { attached } = state.clients;
  return (
    readerCount > waitingReaders || attached.some(({ clientId }) => clientId !== actor.clientId)
  );
}

/** Logs problems with client tools as diagnostics, so people can see why tools are missing. */
export function reportClientToolProblems(decision: Decision, problems: readonly Failure[]): void {
  for (const { message } of problems) {
    const diagnostic = { code: "equipment_unusable", message } as const;
    decision.emit({ type: "diagnostic.raised", diagnostic });
  }
}
