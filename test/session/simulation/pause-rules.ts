import type { EventOf } from "../../../src/domain/events/session-event.ts";
import type { PromptOptions } from "../../../src/domain/prompt.ts";
import type { Envelope } from "../../../src/domain/events/envelope.ts";
import { findDueEffects } from "../../../src/session/due-effects.ts";
import { collectSessionFields } from "../../../src/session/runtime/log/append-decision.ts";
import type { SessionState } from "../../../src/session/session-state.ts";
import { must } from "./assert-rule.ts";
import type { Step } from "./simulated-session.ts";

/** A tool call, as far as the prompt options concern it. */
interface SeenCall {
  readonly isHandedOut: boolean;
  readonly isAllowed: boolean;
  isOver: boolean;
}

/** Checks from the log alone: prompt options are applied, and tools of the prompter are left to the prompter. */
export function pauseRules(): {
  readonly take: (envelope: Envelope) => void;
  readonly check: (step: Step) => void;
  readonly isPaused: () => boolean;
} {
  const optionsByTurn = new Map<string, PromptOptions>();
  let options: PromptOptions = {};
  let calls = new Map<string, SeenCall>();
  let paused: { readonly ids: readonly string[]; readonly at: number } | undefined;
  /** Submitted results which must be logged at once. */
  let owed: readonly string[] = [];
  let started = 0;

  const open = (): string[] => [...calls].flatMap(([id, { isOver }]) => (isOver ? [] : [id]));

  function called({
    toolCallId,
    toolCall,
    problem,
    executor,
  }: EventOf<"tool_call.received">): void {
    const { name, runBy, input } = toolCall;
    const isOurs = runBy === "client";
    const isAllowed = !isOurs || (options.allowedTools?.includes(name) ?? true);
    const isMine = options.tools?.some((tool) => tool.name === name) ?? false;
    const isHandedOut = isOurs && isAllowed && isMine && input !== null;
    must(
      (executor === "prompter") === isHandedOut,
      "calls of a prompt tool are handed to the prompter",
    );
    must(isAllowed || problem !== undefined, "a call not allowed by the prompt has a problem");
    calls.set(toolCallId, { isHandedOut, isAllowed, isOver: false });
  }

  /** A call which does not run here has no further events. */
  function ours(toolCallId: string): void {
    const seen = calls.get(toolCallId);
    must(seen?.isHandedOut === false, "a handed-out call is neither evaluated nor run here");
    must(seen.isAllowed, "a call which is not allowed is neither evaluated nor run");
  }

  return {
    isPaused: () => paused !== undefined,
    take({ event, at }) {
      must(
        owed.length === 0 || event.type === "tool.finished",
        "submitted results are logged at once",
      );
      switch (event.type) {
        case "prompt.accepted":
          optionsByTurn.set(event.promptId, event.options ?? {});
          return;
        case "turn.started":
          options = optionsByTurn.get(event.promptId) ?? {};
          calls = new Map();
          started = 0;
          return;
        case "tool_call.opened":
          calls.set(event.toolCallId, { isHandedOut: false, isAllowed: false, isOver: false });
          return;
        case "tool_call.received":
          return called(event);
        case "tool_call.paths_resolved":
        case "policy.decided":
          return ours(event.toolCallId);
        case "tool.started":
          ours(event.toolCallId);
          if (event.attempt === 1) started += 1;
          must(
            started <= (options.maxToolCalls ?? Infinity),
            "the prompt's limit of tool calls is kept",
          );
          return;
        case "turn.paused":
          must(paused === undefined, "a pause is logged once");
          must(String(event.toolCallIds) === String(open()), "a turn pauses for all open calls");
          must(
            event.toolCallIds.every((id) => calls.get(id)?.isHandedOut === true),
            "a turn pauses only for handed-out calls",
          );
          must(event.toolCallIds.length > 0, "a turn pauses for at least one call");
          paused = { ids: event.toolCallIds, at };
          return;
        case "tool_results.submitted":
          must(paused !== undefined, "a pause gets results once");
          must(String(event.toolCallIds) === String(paused.ids), "all results are submitted");
          owed = paused.ids;
          paused = undefined;
          return;
        case "tool.finished": {
          const { toolCallId, ending } = event;
          const seen = calls.get(toolCallId);
          if (seen !== undefined) seen.isOver = true;
          const isGiven = owed.includes(toolCallId);
          owed = owed.filter((id) => id !== toolCallId);
          const isOurs = seen?.isHandedOut !== true;
          const isDone = ending === "succeeded" || ending === "failed";
          must(isOurs || isGiven === isDone, "a handed-out call ends with its submitted result");
          // The provider may not wait for the call, or may have answered it; the session never refuses or denies it.
          const isLeft = ending === "cancelled" || ending === "server";
          must(isOurs || isGiven || isLeft, "the session does not answer a handed-out call");
          return;
        }
        case "invocation.started":
          must(paused === undefined, "a paused turn starts no invocation");
          return;
        case "turn.finished":
          must(
            event.reason !== "results_missing" || paused !== undefined,
            "only a paused turn ends for missing results",
          );
          paused = undefined;
          return;
        default:
      }
    },

    check({ before, after, happening, events, reply }) {
      must(owed.length === 0, "every submitted result is logged");
      const { pause = null } = after.turn.current ?? {};
      must(
        pause?.pausedAt === paused?.at && String(pause?.toolCallIds) === String(paused?.ids),
        "the state has the pause of the log",
      );
      if (paused !== undefined) {
        must(
          collectSessionFields([], after).state === "waiting",
          "a paused session is listed as waiting",
        );
        must(findDueEffects(after).wakeAt !== null, "a pause has a deadline");
      }
      if (happening.type === "recovery-started") {
        const was = pauseIn(before);
        must(was === "null" || was === pauseIn(after), "a pause survives a kill");
      }
      if (happening.type !== "command-received") return;
      const { command, actor, readerCount = 0 } = happening;
      if (command.type === "cancel" && command.unlessWatched === true) {
        const others = before.clients.attached.some(({ clientId }) => clientId !== actor.clientId);
        const isWatched = readerCount > 0 || others;
        const isCancelled = events.some(
          ({ event }) => event.type === "turn.finished" && event.outcome === "cancelled",
        );
        must(!isWatched || !isCancelled, "a followed turn continues");
        const isSaid = reply?.status === "accepted" && reply.turnId !== undefined;
        must(!isWatched || !isSaid, "a cancel without effect returns no turn id");
      }
    },
  };
}

function pauseIn({ turn }: SessionState): string {
  return JSON.stringify(turn.current?.pause ?? null);
}
