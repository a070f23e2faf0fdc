import type { Actor, Right } from "../domain/actor.ts";
import type { PromptPart, SessionMetadata } from "../domain/agent-event.ts";
import { liveClients, mayDecide } from "../domain/live-client.ts";
import { jsonText } from "../domain/json.ts";
import type { CommandReply, SessionCommand } from "../domain/session-command.ts";
import { isWider } from "../domain/session-mode.ts";
import { addHistory } from "./add-history.ts";
import { answerQuestion } from "./answer-question.ts";
import { revoke } from "./approvals/grants.ts";
import { routeAgain } from "./approvals/questions.ts";
import { attach, detach, heartbeat, isOwnStay } from "./clients/attach-client.ts";
import type { ClientsState, HostRequest } from "./clients/clients-state.ts";
import { answerHost, dropRequests } from "./clients/host-requests.ts";
import { configure } from "./configure.ts";
import type { Input } from "./input.ts";
import { refused } from "./refused.ts";
import type { SessionState } from "./state.ts";
import { awaitClient } from "./tools/awaited-calls.ts";
import { runOf } from "./tools/tools-state.ts";
import { giveResults } from "./turn/paused-turn.ts";
import { cancel, forget, prompt, withdraw } from "./turn/take-turn-command.ts";
import type { Work } from "./work.ts";

type Commanded = Extract<Input, { readonly type: "commanded" }>;

export function takeCommand(work: Work, commanded: Commanded): CommandReply {
  const { command, by, rights } = commanded;
  const wanted = rightFor(work, commanded);
  if (wanted !== null && !rights.includes(wanted)) {
    return refused("access_denied", `This needs the right to ${wanted}`);
  }
  const isBarred = barredClient(work, commanded);
  if (isBarred !== undefined) return refused("access_denied", isBarred);
  switch (command.type) {
    case "prompt":
      return prompt(work, command);
    case "give-results":
      return giveResults(work, command);
    case "forget":
      return forget(work, command);
    case "withdraw":
      return withdraw(work, command);
    case "cancel":
      return cancel(work, command, commanded);
    case "answer":
      return answerQuestion(work, command, by);
    case "revoke":
      return revoke(work, command.grantId);
    case "attach": {
      const { controller } = work.state.clients;
      const reply = attach(work, command, commanded);
      routeAgain(work, controller);
      return reply;
    }
    case "heartbeat":
      return heartbeat(work, command);
    case "detach":
      return leave(work, command);
    case "answer-host":
      return answerHost(work, command, by);
    case "extend": {
      const { folders } = command;
      const isSame = jsonText(folders) === jsonText(work.state.folders);
      if (!isSame) work.emit({ type: "session.extended", folders });
      return { status: "accepted" };
    }
    case "title":
      work.emit({ type: "session.titled", title: command.title });
      return { status: "accepted" };
    case "set-metadata":
      return setMetadata(work, command.metadata);
    case "add-history":
      return addHistory(work, command.messages);
    case "configure":
      return configure(work, command.mode);
    default:
      return command satisfies never;
  }
}

function setMetadata(work: Work, metadata: SessionMetadata): CommandReply {
  const { title } = metadata;
  const isNewTitle = title !== undefined && title !== work.state.metadata["title"];
  work.emit({ type: "session.metadata_changed", metadata });
  if (isNewTitle) work.emit({ type: "session.titled", title });
  return { status: "accepted" };
}

/** What its machine is at goes on there, and may be asked for again. */
function leave(work: Work, command: Extract<SessionCommand, { type: "detach" }>): CommandReply {
  const reply = detach(work, command);
  if (reply.status === "refused") return reply;
  const isOwn = ({ clientId }: HostRequest): boolean => clientId === command.clientId;
  for (const { toolCallId = "" } of work.state.clients.requests.filter(isOwn)) {
    const run = runOf(work.state.tools, toolCallId);
    if (run?.status === "running") awaitClient(work, run, "loss");
  }
  dropRequests(work, isOwn);
  return reply;
}

/** Why a client may not send a command, whatever its principal may. Undefined if the client may. */
function barredClient({ state }: Work, commanded: Commanded): string | undefined {
  const { command, by } = commanded;
  const { controller } = state.clients;
  const isAllowing =
    command.type === "answer" ||
    (command.type === "configure" && isWider(command.mode, state.mode));
  const isAsking = ASKING.has(command.type);
  if (hasLeft(state.clients, commanded)) {
    if (controller === null || !(isAsking || isAllowing)) return undefined;
    return "This client has left the session, and another client controls it; attach, or take over";
  }
  const client = liveClients(state.clients).find(({ clientId }) => clientId === by.clientId);
  if (client === undefined) return undefined;
  const isBeside = controller !== null && client.mode === "observer";
  if (isAsking && !client.mayPrompt)
    return isBeside
      ? "Another client controls this session; take over to prompt"
      : "This client observes; take over to prompt, or attach with prompt injection";
  if (isEndingOthers(state, command, by) && !client.mayPrompt)
    return "This client observes; take over to end what others asked";
  if (isAllowing && !mayDecide(client, prompterOf(state, command)))
    return isBeside
      ? "Another client controls this session; take over to answer"
      : "This client observes; take over to answer, or attach with permission routing";
  return undefined;
}

/** Whether a client speaks for a stay that has ended. Callers that attach nowhere, such as a page, name no stay. */
function hasLeft({ attached }: ClientsState, { by, attachmentId }: Commanded): boolean {
  if (attachmentId === undefined) return false;
  return !attached.some(
    (client) => client.clientId === by.clientId && client.attachmentId === attachmentId,
  );
}

/** The client that began the turn whose request is decided. The mode is a matter of every turn. */
function prompterOf({ turn }: SessionState, command: SessionCommand<PromptPart>) {
  return command.type === "answer" ? turn.current?.by?.clientId : undefined;
}

const ASKING: ReadonlySet<SessionCommand["type"]> = new Set([
  "prompt",
  "give-results",
  "add-history",
  "configure",
]);

/** Who has been taken over from still ends what it began itself. */
function isEndingOthers(
  { turn }: SessionState,
  command: SessionCommand<PromptPart>,
  by: Actor,
): boolean {
  switch (command.type) {
    case "cancel":
      // Who leaves ends what nobody follows any more.
      return command.unlessWatched !== true && turn.current?.by?.clientId !== by.clientId;
    case "withdraw":
      return turn.queue.some(
        (queued) => queued.promptId === command.promptId && queued.by?.clientId !== by.clientId,
      );
    default:
      return false;
  }
}

/** What is one's own needs no right over others. */
function rightFor({ state }: Work, commanded: Commanded): Right | null {
  const { command, by } = commanded;
  switch (command.type) {
    case "prompt":
    case "forget":
    case "set-metadata":
    case "add-history":
      return "prompt";
    case "configure":
      return isWider(command.mode, state.mode) ? "approve" : "prompt";
    case "withdraw": {
      const queued = state.turn.queue.find(({ promptId }) => promptId === command.promptId);
      return queued === undefined || queued.by?.principal === by.principal ? "prompt" : "control";
    }
    case "answer":
    case "revoke":
      return "approve";
    case "give-results":
    case "cancel": {
      const { current } = state.turn;
      // Who comes too late is told that, and not that it is another's.
      if (command.type === "give-results" && (current?.pause ?? null) === null) return "prompt";
      const owner = current?.by?.principal;
      return owner !== undefined && owner === by.principal ? "prompt" : "control";
    }
    case "attach":
      return command.mode === "observer" ? null : "control";
    case "heartbeat":
    case "detach":
      return isOwnStay(state.clients, commanded, command.clientId) ? null : "control";
    case "title":
    case "extend":
      return "control";
    case "answer-host":
      return null;
    default:
      return command satisfies never;
  }
}
