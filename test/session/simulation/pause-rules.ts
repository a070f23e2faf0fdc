import type { EventOf } from "../../../src/domain/events/session-event.ts";
import type { PromptOptions } from "../../../src/domain/prompt.ts";
import type { Envelope } from "../../../src/domain/events/envelope.ts";
import { due } from "../../../src/session/due.ts";
import { collectSessionFields } from "../../../src/session/runtime/log/append-decision.ts";
import type { SessionState } from "../../../src/session/session-state.ts";
import { must } from "./assert-rule.ts";
import type { Step } from "./simulated-session.ts";

interface SeenCall {
  readonly isHandedOut: boolean;
  readonly isAllowed: boolean;
  isOver: boolean;
}

/** What prompts ask for is kept to, and what they have themselves is left to them: told by the log alone. */
export function pauseRules(): {
  readonly take: (envelope: Envelope) => void;
  readonly check: (step: Step) => void;
  readonly isPaused: () => boolean;
} {
  const asked = new Map<string, PromptOptions>();
  let options: PromptOptions = {};
  let calls = new Map<string, SeenCall>();
  let paused: { readonly ids: readonly string[]; readonly at: number } | undefined;
  /** Results that were announced, and have to come at once. */
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
    must((executor === "prompter") === isHandedOut, "whoever brought a tool has its calls");
    must(isAllowed || problem !== undefined, "what the prompt does not allow is not run");
    calls.set(toolCallId, { isHandedOut, isAllowed, isOver: false });
  }

  /** Of what is not done here nothing else is said. */
  function ours(toolCallId: string): void {
    const seen = calls.get(toolCallId);
    must(seen?.isHandedOut === false, "a call that was handed out is neither judged nor run here");
    must(seen.isAllowed, "a call that is not allowed is neither judged nor run");
  }

  return {
    isPaused: () => paused !== undefined,
    take({ event, at }) {
      must(owed.length === 0 || event.type === "tool.finished", "results come at once");
      switch (event.type) {
        case "prompt.accepted":
          asked.set(event.promptId, event.options ?? {});
          return;
        case "turn.started":
          options = asked.get(event.promptId) ?? {};
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
          must(started <= (options.maxToolCalls ?? Infinity), "no more run than the prompt allows");
          return;
        case "turn.paused":
          must(paused === undefined, "a pause is said once");
          must(String(event.toolCallIds) === String(open()), "a turn pauses for all that is open");
          must(
            event.toolCallIds.every((id) => calls.get(id)?.isHandedOut === true),
            "a turn pauses for nothing else",
          );
          must(event.toolCallIds.length > 0, "a turn pauses for something");
          paused = { ids: event.toolCallIds, at };
          return;
        case "tool_results.submitted":
          must(paused !== undefined, "a pause is answered once");
          must(String(event.toolCallIds) === String(paused.ids), "all of it is given");
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
          must(isOurs || isGiven === isDone, "only what is given is a result");
          // The agent may not wait for it, or have answered it itself; nobody here refuses or denies it.
          const isLeft = ending === "cancelled" || ending === "server";
          must(isOurs || isGiven || isLeft, "what was handed out is not ours to answer");
          return;
        }
        case "invocation.started":
          must(paused === undefined, "a paused agent is not called");
          return;
        case "turn.finished":
          must(
            event.reason !== "results_missing" || paused !== undefined,
            "only what is waited for is missing",
          );
          paused = undefined;
          return;
        default:
      }
    },

    check({ before, after, happening, events, reply }) {
      must(owed.length === 0, "every result comes");
      const { pause = null } = after.turn.current ?? {};
      must(
        pause?.pausedAt === paused?.at && String(pause?.toolCallIds) === String(paused?.ids),
        "a pause is in the state",
      );
      if (paused !== undefined) {
        must(
          collectSessionFields([], after).state === "waiting",
          "a paused session is listed as waiting",
        );
        must(due(after).wakeAt !== null, "a pause has a deadline");
      }
      if (happening.type === "recovery-started") {
        const was = pauseIn(before);
        must(was === "null" || was === pauseIn(after), "nothing of a pause is lost with a process");
      }
      if (happening.type !== "command-received") return;
      const { command, actor, readerCount = 0 } = happening;
      if (command.type === "cancel" && command.unlessWatched === true) {
        const others = before.clients.attached.some(({ clientId }) => clientId !== actor.clientId);
        const isWatched = readerCount > 0 || others;
        const isCancelled = events.some(
          ({ event }) => event.type === "turn.finished" && event.outcome === "cancelled",
        );
        must(!isWatched || !isCancelled, "what somebody watches goes on");
        const isSaid = reply?.status === "accepted" && reply.turnId !== undefined;
        must(!isWatched || !isSaid, "who cancels nothing is told so");
      }
    },
  };
}

function pauseIn({ turn }: SessionState): string {
  return JSON.stringify(turn.current?.pause ?? null);
}
