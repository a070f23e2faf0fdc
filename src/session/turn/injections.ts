import { findItem } from "../../data/chunked-list.ts";
import type { PromptPart } from "../../domain/prompt.ts";
import type { CommandReply, DeliveredAs, SessionCommand } from "../../domain/session-command.ts";
import type { InjectionPoint } from "../../providers/provider.ts";
import { resolveWithoutDecision } from "../approvals/approval-requests.ts";
import { readAgentSpec, type Decision } from "../decision.ts";
import { refuse } from "../refuse-command.ts";
import { renderReminders } from "../steering/render-reminders.ts";
import { queueChangedFiles, queueTokenPressure } from "../steering/runtime-reminders.ts";
import {
  acceptInject,
  replaceInject,
  type InjectionSender,
} from "../steering/steering-commands.ts";
import { hasInterrupt, isMessage, listSteers } from "../steering/steering-state.ts";
import { finishTool } from "../tools/finish-tool.ts";
import { isNeverStarted } from "../tools/tools-state.ts";
import { checkContent, describeHiddenImages } from "./check-prompt.ts";
import type { CurrentTurn } from "./turn-state.ts";

type InjectCommand = Extract<SessionCommand<PromptPart>, { readonly type: "inject" }>;
type ReplaceCommand = Extract<SessionCommand<PromptPart>, { readonly type: "replace-inject" }>;

/**
 * Accepts a message for the running turn or for a separate turn. The reply states where it goes; `advanceTurn`
 * delivers it, in this decision if no turn is running.
 */
export function injectMessage(decision: Decision, command: InjectCommand): CommandReply {
  const problem = checkContent(command.content, readAgentSpec(decision));
  if (problem !== undefined) return problem;
  const { current } = decision.state.turn;
  const { onlyIntoTurn, turnId = current?.turnId } = command;
  if (current === null && onlyIntoTurn === true)
    return refuseWithoutTurn("No turn is running. Fix: send a prompt");
  if (turnId !== current?.turnId)
    return refuseWithoutTurn("This turn is not running. Fix: send a prompt");
  return acceptInject(decision, command, resolveDelivery(decision, command));
}

function refuseWithoutTurn(message: string): CommandReply {
  return refuse("conflict", message, { reason: "no_running_turn" });
}

export function replaceMessage(
  decision: Decision,
  command: ReplaceCommand,
  sender: InjectionSender,
): CommandReply {
  const problem = checkContent(command.content, readAgentSpec(decision));
  return problem ?? replaceInject(decision, command, sender);
}

function resolveDelivery(decision: Decision, { mode }: InjectCommand): DeliveredAs {
  const { current, queue } = decision.state.turn;
  const isFirst =
    queue.length === 0 && findItem(decision.state.steering.pending, isMessage) === undefined;
  if (current === null) return isFirst ? "turn" : "queue";
  return mode === "steer" && hasPointLeft(decision, current) ? "steer" : "queue";
}

/** Whether the running turn can still receive a message: the provider has a later point, and the caps a later step. */
function hasPointLeft(decision: Decision, { steps, stage }: CurrentTurn): boolean {
  const { provider, caps } = readAgentSpec(decision);
  if (stage.type === "ready") return true;
  const hasPoint = ["tool-results", "turn-end"].some((point) =>
    provider.injectionPoints.includes(point),
  );
  return hasPoint && steps < caps.steps;
}

/** Adds the pending messages for this turn, and the reminders, to the next invocation. */
export function deliverInjections(decision: Decision, point: InjectionPoint): void {
  const agent = readAgentSpec(decision);
  const { contextTokens, provider } = agent;
  if (point !== "turn-start" && !provider.injectionPoints.includes(point)) return;
  const { steering } = decision.state;
  const isNothingNew = steering.pending.length === 0 && decision.changedFiles.length === 0;
  if (isNothingNew && contextTokens === undefined) return;
  for (const { id: messageId, content: submitted, owner } of listSteers(steering)) {
    const content = describeHiddenImages(submitted, agent);
    decision.emit({ type: "message.sent", messageId, content, origin: "inject" }, owner);
  }
  if (decision.changedFiles.length > 0) queueChangedFiles(decision);
  if (contextTokens !== undefined) queueTokenPressure(decision, contextTokens);
  const text = renderReminders(decision);
  if (text === undefined) return;
  const messageId = decision.ids.next("msg");
  const content = [{ type: "text", text }] as const;
  decision.emit({ type: "message.sent", messageId, content, origin: "reminder" }, null);
}

/** Whether a pending injection requires another invocation of a turn which would otherwise end. */
export function hasUrgentInjection(decision: Decision): boolean {
  const { steering } = decision.state;
  if (steering.pending.length === 0) return false;
  const { injectionPoints } = readAgentSpec(decision).provider;
  if (!injectionPoints.includes("turn-end")) return false;
  return listSteers(steering).length > 0 || hasInterrupt(steering);
}

/** Finishes the tool calls which have not started, if a reminder interrupts the step. Running tools continue. */
export function skipInterruptedTools(decision: Decision): void {
  const { steering, tools, approvals } = decision.state;
  const { injectionPoints } = readAgentSpec(decision).provider;
  if (!hasInterrupt(steering) || !injectionPoints.includes("tool-results")) return;
  for (const run of tools.runs.filter(isNeverStarted)) {
    const request = approvals.pending.find(({ approvalId }) => approvalId === run.approvalId);
    if (request !== undefined) resolveWithoutDecision(decision, request, "cancel");
    const text = `${run.name} was not run: a reminder interrupted this step. Read it before you call the tool again.`;
    finishTool(decision, run, { ending: "cancelled", text });
  }
}
