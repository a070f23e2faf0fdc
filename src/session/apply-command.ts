import { toJsonText } from "../data/json.ts";
import type { Actor, Right } from "../domain/actor.ts";
import type { SessionMetadata } from "../domain/events/lifecycle-events.ts";
import { isInjectionChange, NOT_AUTHORIZED } from "../domain/pending-injection.ts";
import type { PromptPart } from "../domain/prompt.ts";
import { listLiveClients, mayDecide } from "../domain/live-client.ts";
import type { ModelMessage } from "../domain/model/model-request.ts";
import { pairToolResults, normalizeHistory } from "../domain/model/normalize-history.ts";
import type { CommandReply, SessionCommand } from "../domain/session-command.ts";
import { isLessStrict } from "../domain/session-mode.ts";
import { routeAgain } from "./approvals/approval-requests.ts";
import { revokeGrant } from "./approvals/grants.ts";
import { findHistoryProblem } from "./check-open-options.ts";
import {
  attachClient,
  detachClient,
  recordHeartbeat,
  isSameAttachment,
} from "./clients/attach-client.ts";
import type { ClientsState, HostRequest } from "./clients/clients-state.ts";
import { submitHostReply, dropHostRequests } from "./clients/host-requests.ts";
import { resumeDaemon } from "./daemon/daemon-commands.ts";
import { applyWorkerCommand } from "./apply-worker-input.ts";
import { decideApproval } from "./decide-approval.ts";
import { endWork } from "./end-work.ts";
import { type Decision, readAgentSpec } from "./decision.ts";
import { refuse } from "./refuse-command.ts";
import type { TimedInput } from "./session-input.ts";
import type { SessionState } from "./session-state.ts";
import { setMode } from "./set-mode.ts";
import {
  queueReminder,
  revokeInject,
  revokeReminder,
  type InjectionSender,
} from "./steering/steering-commands.ts";
import { waitForHost } from "./tools/host-waits.ts";
import { findRun } from "./tools/tools-state.ts";
import { cancelCompaction, requestCompaction } from "./transcript/compaction-steps.ts";
import { cancelToolCall } from "./turn/cancel-tool-call.ts";
import { injectMessage, replaceMessage } from "./turn/injections.ts";
import { submitResults } from "./turn/paused-turn.ts";
import { remindWorkers } from "./workers/worker-commands.ts";
import { removeClientWatches, unwatchFiles, watchFiles } from "./watches/watch-commands.ts";
import { cancelTurn, hidePrompt, acceptPrompt, withdrawPrompt } from "./turn/turn-commands.ts";

type CommandInput = Extract<TimedInput, { readonly type: "command-received" }>;

export function applyCommand(decision: Decision, input: CommandInput): CommandReply {
  return checkAccess(decision, input) ?? runCommand(decision, input);
}

/** Returns the refusal of a command which its sender may not use. Undefined if the sender may. */
function checkAccess(decision: Decision, input: CommandInput): CommandReply | undefined {
  const neededRight = resolveNeededRight(decision, input);
  if (neededRight !== null && !input.rights.includes(neededRight)) {
    const reason = isInjectionChange(input.command) ? { reason: NOT_AUTHORIZED } : {};
    return refuse("access_denied", `This needs the right to ${neededRight}`, reason);
  }
  const refusal = findClientRefusal(decision, input);
  return refusal === undefined ? undefined : refuse("access_denied", refusal);
}

function runCommand(decision: Decision, input: CommandInput): CommandReply {
  const { command, actor } = input;
  switch (command.type) {
    case "prompt":
      return acceptPrompt(decision, command, readAgentSpec(decision));
    case "submit-results":
      return submitResults(decision, command);
    case "inject":
      return injectMessage(decision, command);
    case "replace-inject":
      return replaceMessage(decision, command, resolveSender(decision, input));
    case "revoke-inject":
      return revokeInject(decision, command, resolveSender(decision, input));
    case "remind":
      return remind(decision, command, actor);
    case "revoke-reminder":
      return revokeReminder(decision, command, resolveSender(decision, input));
    case "resume-daemon":
      return resumeDaemon(decision);
    case "compact":
      return requestCompaction(decision, command);
    case "hide-prompt":
      return hidePrompt(decision, command);
    case "withdraw-prompt":
      return withdrawPrompt(decision, command);
    case "cancel":
      return cancelTurnAndCompaction(decision, command, input);
    case "cancel-tool-call":
      return cancelToolCall(decision, command);
    case "decide-approval":
      return decideApproval(decision, command, actor);
    case "revoke-grant":
      return revokeGrant(decision, command.grantId);
    case "attach": {
      const { controller } = decision.state.clients;
      const reply = attachClient(decision, command, input);
      routeAgain(decision, controller);
      return reply;
    }
    case "heartbeat":
      return recordHeartbeat(decision, command);
    case "detach":
      return detachAndWait(decision, command, input);
    case "submit-host-reply":
      return submitHostReply(decision, command, actor);
    case "set-folders": {
      const { folders } = command;
      const isSame = toJsonText(folders) === toJsonText(decision.state.folders);
      if (!isSame) decision.emit({ type: "session.folders_changed", folders });
      return { status: "accepted" };
    }
    case "set-title":
      decision.emit({ type: "session.title_changed", title: command.title });
      return { status: "accepted" };
    case "set-metadata":
      return setMetadata(decision, command.metadata);
    case "add-history":
      return addHistory(decision, command.messages);
    case "delegate":
    case "trigger-worker":
    case "close-worker":
      return applyWorkerCommand(decision, command);
    case "end-work":
      return endWork(decision, input);
    case "watch-files":
      return watchFiles(decision, command, actor.clientId);
    case "unwatch-files":
      return unwatchFiles(decision, command.subscriptionId, resolveSender(decision, input));
    case "set-mode":
      return setMode(decision, command.mode);
    default:
      return command satisfies never;
  }
}

function remind(
  decision: Decision,
  command: Extract<SessionCommand, { type: "remind" }>,
  actor: Actor,
): CommandReply {
  const reply = queueReminder(decision, command, actor);
  const { reminder } = command;
  if (reply.status === "accepted" && reply.reminderId !== undefined)
    remindWorkers(decision, { reminderId: reply.reminderId, reminder });
  return reply;
}

/** An attached client may change the injections and subscriptions of others while it is the controller; other senders need the right. */
function resolveSender({ state }: Decision, { actor, rights }: CommandInput): InjectionSender {
  const { attached, controller } = state.clients;
  const isAttached = attached.some(({ clientId }) => clientId === actor.clientId);
  const mayControl = isAttached ? controller === actor.clientId : rights.includes("control");
  return { actor, mayControl };
}

/** Also cancels a compaction, unless only a certain turn is cancelled which has ended. */
function cancelTurnAndCompaction(
  decision: Decision,
  command: Extract<SessionCommand, { type: "cancel" }>,
  sender: CommandInput,
): CommandReply {
  const turnId = decision.state.turn.current?.turnId;
  const reply = cancelTurn(decision, command, sender);
  const hasEnded = turnId !== undefined && decision.state.turn.current === null;
  const isIdle = turnId === undefined && command.turnId === undefined;
  if (hasEnded || (isIdle && command.unlessWatched !== true)) cancelCompaction(decision);
  return reply;
}

function setMetadata(decision: Decision, metadata: SessionMetadata): CommandReply {
  const { title } = metadata;
  const isNewTitle = title !== undefined && title !== decision.state.metadata["title"];
  decision.emit({ type: "session.metadata_changed", metadata });
  if (isNewTitle) decision.emit({ type: "session.title_changed", title });
  return { status: "accepted" };
}

/**
 * Detaches a client. Tool calls running on its machine continue there; the session waits for their results if the host
 * deduplicates calls.
 */
function detachAndWait(
  decision: Decision,
  command: Extract<SessionCommand, { type: "detach" }>,
  sender: CommandInput,
): CommandReply {
  const reply = detachClient(decision, command, sender);
  if (reply.status === "refused") return reply;
  const isClientRequest = ({ clientId }: HostRequest): boolean => clientId === command.clientId;
  for (const { toolCallId = "" } of decision.state.clients.requests.filter(isClientRequest)) {
    const run = findRun(decision.state.tools, toolCallId);
    if (run?.status === "running") waitForHost(decision, run, "loss");
  }
  dropHostRequests(decision, isClientRequest);
  removeClientWatches(decision, command.clientId, command.reason);
  return reply;
}

/** Returns why a client may not send a command, regardless of its principal's rights. Undefined if the client may. */
function findClientRefusal({ state }: Decision, commanded: CommandInput): string | undefined {
  const { command, actor: by } = commanded;
  const { controller } = state.clients;
  const isAllowing =
    command.type === "decide-approval" ||
    (command.type === "set-mode" && isLessStrict(command.mode, state.mode));
  const isAsking = PROMPTING_COMMANDS.has(command.type);
  if (hasLeft(state.clients, commanded)) {
    if (controller === null || !(isAsking || isAllowing)) return undefined;
    return "This client has left the session, and another client controls it; attach, or take over";
  }
  const client = listLiveClients(state.clients).find(({ clientId }) => clientId === by.clientId);
  if (client === undefined) return undefined;
  const isBeside = controller !== null && client.role === "observer";
  if (isAsking && !client.mayPrompt)
    return isBeside
      ? "Another client controls this session; take over to prompt"
      : "This client observes; take over to prompt, or attach with prompt injection";
  if (endsOthersWork(state, command, by) && !client.mayPrompt)
    return "This client observes; take over to cancel the prompts of others";
  if (isAllowing && !mayDecide(client, findPrompter(state, command)))
    return isBeside
      ? "Another client controls this session; take over to decide"
      : "This client observes; take over to decide, or attach with permission routing";
  return undefined;
}

/**
 * Whether a command belongs to an attachment which has ended. Callers which never attach, such as the portal, send no
 * attachment id.
 */
function hasLeft({ attached }: ClientsState, { actor: by, attachmentId }: CommandInput): boolean {
  if (attachmentId === undefined) return false;
  return !attached.some(
    (client) => client.clientId === by.clientId && client.attachmentId === attachmentId,
  );
}

/** The client which started the turn of an approval request. Undefined for `set-mode`, which affects every turn. */
function findPrompter({ turn }: SessionState, command: SessionCommand<PromptPart>) {
  return command.type === "decide-approval" ? turn.current?.submitter?.clientId : undefined;
}

const PROMPTING_COMMANDS: ReadonlySet<SessionCommand["type"]> = new Set([
  "prompt",
  "submit-results",
  "add-history",
  "set-mode",
  "inject",
  "remind",
  "resume-daemon",
  "compact",
  "delegate",
  "trigger-worker",
  "watch-files",
  "unwatch-files",
]);

/** Whether a command ends work submitted by another client. A client which lost control may still end its own work. */
function endsOthersWork(
  { turn }: SessionState,
  command: SessionCommand<PromptPart>,
  by: Actor,
): boolean {
  switch (command.type) {
    case "cancel-tool-call":
      return turn.current !== null && turn.current.submitter?.clientId !== by.clientId;
    case "cancel":
      // A disconnecting client may cancel a turn which no other client follows.
      return command.unlessWatched !== true && turn.current?.submitter?.clientId !== by.clientId;
    case "close-worker":
    case "end-work":
      return true;
    case "withdraw-prompt":
      return turn.queue.some(
        (queued) =>
          queued.promptId === command.promptId && queued.submitter?.clientId !== by.clientId,
      );
    default:
      return false;
  }
}

/**
 * Returns the right a command requires, or null for none. Acting on one's own prompts requires only `prompt`, on those
 * of others `control`.
 */
function resolveNeededRight({ state }: Decision, input: CommandInput): Right | null {
  const { command, actor: by } = input;
  switch (command.type) {
    case "prompt":
    case "inject":
    case "replace-inject":
    case "revoke-inject":
    case "watch-files":
    case "unwatch-files":
    case "remind":
    case "revoke-reminder":
    case "resume-daemon":
    case "compact":
    case "delegate":
    case "trigger-worker":
    case "hide-prompt":
    case "set-metadata":
    case "add-history":
      return "prompt";
    case "set-mode":
      return isLessStrict(command.mode, state.mode) ? "approve" : "prompt";
    case "withdraw-prompt": {
      const queued = state.turn.queue.find(({ promptId }) => promptId === command.promptId);
      return queued === undefined || queued.submitter?.principal === by.principal
        ? "prompt"
        : "control";
    }
    case "decide-approval":
    case "revoke-grant":
      return "approve";
    case "submit-results":
    case "cancel-tool-call":
    case "cancel": {
      const { current } = state.turn;
      // A late submission is refused as a conflict, not for missing rights.
      if (command.type === "submit-results" && (current?.pause ?? null) === null) return "prompt";
      const owner = current?.submitter?.principal;
      return owner !== undefined && owner === by.principal ? "prompt" : "control";
    }
    case "attach":
      return command.mode === "observer" ? null : "control";
    case "heartbeat":
    case "detach":
      return isSameAttachment(state.clients, input, command.clientId) ? null : "control";
    case "set-title":
    case "set-folders":
    case "close-worker":
    case "end-work":
      return "control";
    case "submit-host-reply":
      return null;
    default:
      return command satisfies never;
  }
}

/**
 * Adds messages between two turns. A provider which keeps its history accepts messages only at the start of an upstream
 * session, so later messages are refused.
 */
function addHistory(decision: Decision, addedMessages: readonly ModelMessage[]): CommandReply {
  const { turn, submittedPrompts } = decision.state;
  const problem = findHistoryProblem(addedMessages);
  if (problem !== undefined) return refuse("invalid_option", problem, { path: "items" });
  if (turn.current !== null || turn.queue.length > 0) {
    return refuse("conflict", "A turn is running. Fix: add messages after it has ended");
  }
  if (decision.state.transcript.running !== null)
    return refuse("conflict", "A compaction is running. Fix: add messages after its end");
  if (turn.upstream !== null && readAgentSpec(decision).provider.keepsHistory !== false) {
    const message = "The agent keeps its own history and has started it: no messages can be added";
    return refuse("conflict", message, { reason: "history_begun" });
  }
  const isFirst = !turn.isHistoryImported && submittedPrompts.length === 0;
  const messages = isFirst ? normalizeHistory(addedMessages) : pairToolResults(addedMessages);
  decision.emit({ type: "history.imported", messages });
  return { status: "accepted", seq: decision.state.seq };
}
