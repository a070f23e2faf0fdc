import type { ApprovalRequested } from "../../../domain/events/approval-events.ts";
import { toSpanlineError, SpanlineError } from "../../../domain/errors.ts";
import { toJsonText } from "../../../data/json.ts";
import {
  encodeEmptyResult,
  encodeSessionListResult,
} from "../../../wire/acp/encode/encode-results.ts";
import { encodeError } from "../../../wire/acp/encode/encode-failure.ts";
import type { ClientRequest } from "../../../wire/acp/decode/client-request.ts";
import { encodeHitlRespondResult } from "../../../wire/acp/decode/hitl-messages.ts";
import { encodeOptions } from "../../../wire/acp/decode/session-mode-messages.ts";
import { encodeNoTurnOutcome } from "../../../wire/acp/encode/prompt-outcome.ts";
import { createCommandReply } from "../../../wire/acp/decode/slash-command.ts";
import type { RequestId, RpcResponse, RpcRequest } from "../../../wire/jsonrpc/rpc-message.ts";
import type { ClientLink } from "../connection/client-link.ts";
import type { AcpSession } from "./acp-session.ts";
import { findSession } from "./find-session.ts";
import { handleLiveClientRequest } from "./live-client-requests.ts";
import { findOnlySession, handleSteeringRequest } from "./steering-requests.ts";
import { handleWorkerRequest } from "./worker-requests.ts";
import { runSlashCommand } from "./run-slash-command.ts";
import { createSessionTable, type SessionTable } from "./session-table.ts";
import {
  followExistingSession,
  forkSession,
  openNewSession,
  type SetupContext,
} from "./setup-requests.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

export type SessionRequest = Exclude<ClientRequest, { type: "initialize" | "authenticate" }>;

/**
 * Performs a client's requests about its sessions. Each method resolves when the session has accepted the command, not
 * at the end of the turn.
 */
export interface SessionRequests {
  perform(request: RpcRequest, sessionRequest: SessionRequest): Promise<void>;
  cancel(sessionId: string): Promise<void>;
  /** Cancels one prompt. Other requests finish quickly and are not cancelled. */
  cancelPrompt(sessionId: string, requestId: RequestId): Promise<void>;
  handlePermissionResponse(
    sessionId: string,
    approval: ApprovalRequested,
    answer: RpcResponse,
  ): Promise<void>;
  /** The client turned out to use the bridge protocol: its sessions no longer treat it as a stock client. */
  declareHost(request: SessionRequest): Promise<void>;
  /** Sets the client tools again, because the host's tools or shells have changed. */
  bringAgain(): Promise<void>;
  /** The host's skills have changed: each session requests them again as soon as no turn runs. */
  refreshSkills(): void;
  disconnectAll(reason: string): Promise<void>;
}

/** `fixedSession`: the session `session/new` returns in place of a new session: an id, or "latest". */
export function createSessionRequests(
  link: ClientLink,
  fixedSession: string | undefined,
): SessionRequests {
  const table = createSessionTable(link);
  const context: SetupContext = { link, table, fixedSession };
  return {
    perform: (request, sessionRequest) =>
      respondToErrors(link, request, () => dispatch(context, request, sessionRequest)),
    async cancel(sessionId) {
      await table.get(sessionId)?.cancel();
    },
    async cancelPrompt(sessionId, requestId) {
      await table.get(sessionId)?.cancel(requestId);
    },
    async handlePermissionResponse(sessionId, approval, answer) {
      const session = table.get(sessionId);
      if (session !== undefined) return session.handlePermissionResponse(approval, answer);
      const { approvalId } = approval;
      link.log("a decision for a session that its client has left was ignored", {
        sessionId,
        approvalId,
      });
    },
    async declareHost(request) {
      for (const [sessionId, session] of table.all()) {
        // A client that attaches under its own id declares itself.
        const isAttaching = request.type === "attach" && request.sessionId === sessionId;
        if (!isAttaching) await session.declareHost();
      }
    },
    async bringAgain() {
      await Promise.all(listFollowed(table).map((session) => session.setClientTools()));
    },
    refreshSkills() {
      // Not awaited: a host that announces many changes would fill the queue of its requests.
      for (const session of listFollowed(table)) void session.refreshSkills();
    },
    async disconnectAll(reason) {
      await Promise.all(Array.from(table.all(), ([, session]) => session.disconnect(reason)));
    },
  };
}

function listFollowed(table: SessionTable): readonly AcpSession[] {
  return Array.from(table.all(), ([, session]) => session).filter(({ isFollowing }) => isFollowing);
}

/** Responds with an error if the work throws, so every request has a response. */
async function respondToErrors(
  link: ClientLink,
  request: RpcRequest,
  perform: () => Promise<void>,
): Promise<void> {
  try {
    await perform();
  } catch (error) {
    link.respond(request, { ok: false, error: encodeError(error) });
    if (!(error instanceof SpanlineError)) throw error;
  }
}

async function dispatch(
  context: SetupContext,
  request: RpcRequest,
  sessionRequest: SessionRequest,
): Promise<void> {
  switch (sessionRequest.type) {
    case "prompt":
      return submitPrompt(context, request, sessionRequest);
    case "new":
      return openNewSession(context, request, sessionRequest);
    case "load":
      return followExistingSession(context, request, { ...sessionRequest, history: "shown" });
    case "resume":
      return followExistingSession(context, request, { ...sessionRequest, history: "hidden" });
    case "fork": {
      const enter = await forkSession(context, request, sessionRequest);
      return context.link.runUnordered(() => respondToErrors(context.link, request, enter));
    }
    case "list":
      return listSessions(context, request, sessionRequest);
    case "close":
      return closeSession(context, request, sessionRequest.sessionId);
    case "delete":
      return deleteSession(context, request, sessionRequest.sessionId);
    case "cancel":
      return cancelTurn(context, request, sessionRequest.sessionId);
    case "attach":
    case "heartbeat":
    case "detach":
    case "clients":
      return handleLiveClientRequest(request, sessionRequest, context);
    case "steer":
    case "pending-injections":
      return handleSteeringRequest(request, sessionRequest, context);
    case "worker":
    case "workers":
      return handleWorkerRequest(request, sessionRequest, context);
    case "hitl-respond":
      return respondToQuestion(context, request, sessionRequest);
    case "arguments":
      return readArguments(context, request, sessionRequest);
    case "configure":
      return configureSession(context, request, sessionRequest);
    default:
      return sessionRequest satisfies never;
  }
}

type RequestOf<Type extends SessionRequest["type"]> = Extract<SessionRequest, { type: Type }>;

async function submitPrompt(
  { link, table }: SetupContext,
  request: RpcRequest,
  { sessionId, command, commandId }: RequestOf<"prompt">,
): Promise<void> {
  const session = await table.resume(sessionId);
  const [first] = command.content;
  if (first?.type !== "text" || !first.text.startsWith("/"))
    return session.prompt(request, command, commandId);
  const typed = await runSlashCommand(command, { sessionId, session, link });
  if (typed.type === "prompt") return session.prompt(request, typed.prompt, commandId);
  // Only the client of the command sees its reply.
  for (const update of createCommandReply(String(request.id), typed.text)) {
    link.sendUpdate(sessionId, update);
  }
  link.respond(request, encodeNoTurnOutcome());
}

async function listSessions(
  { link }: SetupContext,
  request: RpcRequest,
  { workingDirectory, folders, page }: RequestOf<"list">,
): Promise<void> {
  const found = await link.sessions.list({
    limit: PAGE_SIZE,
    // The sessions of workers are reached through their parents.
    parent: null,
    principal: link.sender.principal.id,
    ...omitUndefined({ workingDirectory, page }),
  });
  const requestedFolders = toJsonText(folders ?? []);
  const listed = found.sessions.filter(
    (entry) => folders === undefined || toJsonText(entry.folders) === requestedFolders,
  );
  link.respond(request, { ok: true, result: encodeSessionListResult(listed, found.nextPage) });
}

/** Cancels the client's turns, and the running turn if no other client follows the session. The session stays. */
async function closeSession(
  { link, table }: SetupContext,
  request: RpcRequest,
  sessionId: string,
): Promise<void> {
  if (table.get(sessionId) === undefined) await table.find(sessionId);
  await table.close(sessionId);
  link.respond(request, { ok: true, result: encodeEmptyResult() });
}

async function deleteSession(
  { link, table }: SetupContext,
  request: RpcRequest,
  sessionId: string,
): Promise<void> {
  await table.close(sessionId);
  // A session that does not exist, or belongs to another principal, is already gone for this client.
  const found = await findSession(link.sessions, sessionId, link.sender.principal);
  if (found !== undefined) await link.sessions.delete(sessionId);
  link.respond(request, { ok: true, result: encodeEmptyResult() });
}

/** ACP defines `session/cancel` as a notification; a client that sends a request gets a result. */
async function cancelTurn(
  { link, table }: SetupContext,
  request: RpcRequest,
  sessionId: string,
): Promise<void> {
  const session = table.get(sessionId);
  if (session === undefined) {
    await table.find(sessionId);
    throw new SpanlineError(
      "access_denied",
      "This client is not in the session. Fix: load the session first",
    );
  }
  const refusal = await session.cancel();
  if (refusal !== undefined) throw toSpanlineError(refusal);
  link.respond(request, { ok: true, result: encodeEmptyResult() });
}

async function readArguments(
  { link, table }: SetupContext,
  request: RpcRequest,
  sessionRequest: RequestOf<"arguments">,
): Promise<void> {
  await table.find(sessionRequest.sessionId);
  const result = table.getOrCreate(sessionRequest.sessionId).readArguments(sessionRequest);
  link.respond(request, { ok: true, result });
}

/** Without a session id, the connection must have exactly one session: the request could mean any of several. */
async function respondToQuestion(
  { link, table }: SetupContext,
  request: RpcRequest,
  { sessionId, command }: RequestOf<"hitl-respond">,
): Promise<void> {
  const session = await table.resume(sessionId ?? findOnlySession(table));
  const reply = await session.command(command);
  if (reply.status === "refused") throw toSpanlineError(reply.failure);
  link.respond(request, { ok: true, result: encodeHitlRespondResult() });
}

async function configureSession(
  { link, table }: SetupContext,
  request: RpcRequest,
  { sessionId, command, answer }: RequestOf<"configure">,
): Promise<void> {
  const session = await table.resume(sessionId);
  const reply = await session.command(command);
  if (reply.status === "refused") throw toSpanlineError(reply.failure);
  const result = answer === "options" ? encodeOptions(command.mode) : encodeEmptyResult();
  link.respond(request, { ok: true, result });
}

/** Sessions per page. */
const PAGE_SIZE = 50;
