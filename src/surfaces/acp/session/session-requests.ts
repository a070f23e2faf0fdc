import type { ApprovalRequested } from "../../../domain/events/approval-events.ts";
import { toSpanlineError, SpanlineError } from "../../../domain/errors.ts";
import { toJsonText } from "../../../data/json.ts";
import {
  encodeEmptyResult,
  encodeSessionListResult,
} from "../../../wire/acp/encode/encode-results.ts";
import { encodeError } from "../../../wire/acp/encode/encode-failure.ts";
import type { ClientRequest, SessionSetup } from "../../../wire/acp/decode/client-request.ts";
import { encodeOptions } from "../../../wire/acp/decode/session-mode-messages.ts";
import { encodeNoTurnOutcome } from "../../../wire/acp/encode/prompt-outcome.ts";
import { createCommandReply } from "../../../wire/acp/decode/slash-command.ts";
import type { RequestId, RpcResponse, RpcRequest } from "../../../wire/jsonrpc/rpc-message.ts";
import type { AcpSession } from "./acp-session.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { findSession } from "./find-session.ts";
import { handleLiveClientRequest } from "./live-client-requests.ts";
import { runSlashCommand } from "./run-slash-command.ts";
import { createSessionTable } from "./session-table.ts";
import { createSetupRequests } from "./setup-requests.ts";

export type SessionRequest = Exclude<ClientRequest, { type: "initialize" | "authenticate" }>;

/** What a client can want of its sessions. Each is done when the session has taken it, not when its turn is over. */
export interface SessionRequests {
  perform(request: RpcRequest, sessionRequest: SessionRequest): Promise<void>;
  cancel(sessionId: string): Promise<void>;
  /** One prompt is not wanted any more. Other requests are answered soon anyway. */
  cancelPrompt(sessionId: string, requestId: RequestId): Promise<void>;
  handlePermissionResponse(
    sessionId: string,
    approval: ApprovalRequested,
    answer: RpcResponse,
  ): Promise<void>;
  /** The client turned out to use the bridge protocol: its sessions have it as a stock client no longer. */
  declareHost(request: SessionRequest): Promise<void>;
  /** The client has other tools or shells than before. */
  bringAgain(): Promise<void>;
  disconnectAll(reason: string): Promise<void>;
}

/** `fixed` is what `session/new` gives instead of a new session: an id, or "latest". */
export function createSessionRequests(
  link: ClientLink,
  fixedSession: string | undefined,
): SessionRequests {
  const { sessions } = link;
  const { principal } = link.sender;
  const table = createSessionTable(link);
  const setup = createSetupRequests(link, table, fixedSession);

  /** What the client has begun ends, and what nobody else follows; the session itself stays. */
  async function close(request: RpcRequest, sessionId: string): Promise<void> {
    const session = table.get(sessionId);
    if (session === undefined) await table.find(sessionId);
    await closeSession(sessionId, session);
    link.respond(request, { ok: true, result: encodeEmptyResult() });
  }

  /** Known until that is done: the connection may end before. */
  async function closeSession(sessionId: string, session: AcpSession | undefined): Promise<void> {
    try {
      await session?.close();
    } finally {
      table.forget(sessionId);
    }
  }

  async function remove(request: RpcRequest, sessionId: string): Promise<void> {
    await closeSession(sessionId, table.get(sessionId));
    // One that is not there, or is another's, is gone for this client already.
    const found = await findSession(sessions, sessionId, principal);
    if (found !== undefined) await sessions.delete(sessionId);
    link.respond(request, { ok: true, result: encodeEmptyResult() });
  }

  async function fork(
    request: RpcRequest,
    source: string,
    sessionRequest: SessionSetup,
  ): Promise<void> {
    const enter = await setup.fork(request, source, sessionRequest);
    link.runUnordered(() => respondToErrors(request, enter));
  }

  /** A request has an answer, whatever comes of what it asks for. */
  async function respondToErrors(request: RpcRequest, perform: () => Promise<void>): Promise<void> {
    try {
      await perform();
    } catch (error) {
      link.respond(request, { ok: false, error: encodeError(error) });
      if (!(error instanceof SpanlineError)) throw error;
    }
  }

  async function list(
    request: RpcRequest,
    { workingDirectory, folders, page }: Extract<SessionRequest, { type: "list" }>,
  ): Promise<void> {
    const found = await sessions.list({
      limit: PAGE_SIZE,
      principal: principal.id,
      ...(workingDirectory !== undefined && { workingDirectory }),
      ...(page !== undefined && { page }),
    });
    const sessionRequest = toJsonText(folders ?? []);
    const listed = found.sessions.filter(
      (entry) => folders === undefined || toJsonText(entry.folders) === sessionRequest,
    );
    link.respond(request, { ok: true, result: encodeSessionListResult(listed, found.nextPage) });
  }

  async function configure(
    request: RpcRequest,
    { sessionId, command, answer }: Extract<SessionRequest, { type: "configure" }>,
  ): Promise<void> {
    const session = await table.resume(sessionId);
    const reply = await session.command(command);
    if (reply.status === "refused") throw toSpanlineError(reply.failure);
    const result = answer === "options" ? encodeOptions(command.mode) : encodeEmptyResult();
    link.respond(request, { ok: true, result });
  }

  async function readArguments(
    request: RpcRequest,
    sessionRequest: Extract<SessionRequest, { type: "arguments" }>,
  ): Promise<void> {
    await table.find(sessionRequest.sessionId);
    const result = table.getOrCreate(sessionRequest.sessionId).readArguments(sessionRequest);
    link.respond(request, { ok: true, result });
  }

  async function prompt(
    request: RpcRequest,
    { sessionId, command, commandId }: Extract<SessionRequest, { type: "prompt" }>,
  ): Promise<void> {
    const session = await table.resume(sessionId);
    const typed = await runSlashCommand(command, { sessionId, session, link });
    if (typed.type === "prompt") return session.prompt(request, typed.prompt, commandId);
    // For the one who asked alone, whatever else is going on in the session.
    for (const update of createCommandReply(String(request.id), typed.text)) {
      link.sendUpdate(sessionId, update);
    }
    link.respond(request, encodeNoTurnOutcome());
  }

  /** ACP defines it as a notification; a client that sends a request gets a result. */
  async function cancel(request: RpcRequest, sessionId: string): Promise<void> {
    const session = table.get(sessionId);
    if (session === undefined) {
      await table.find(sessionId);
      throw new SpanlineError("access_denied", "This client is not in the session; load it first");
    }
    const refusal = await session.cancel();
    if (refusal !== undefined) throw toSpanlineError(refusal);
    link.respond(request, { ok: true, result: encodeEmptyResult() });
  }

  async function dispatch(request: RpcRequest, sessionRequest: SessionRequest): Promise<void> {
    switch (sessionRequest.type) {
      case "new":
        return setup.open(request, sessionRequest);
      case "load":
        return setup.follow(request, sessionRequest.sessionId, {
          ...sessionRequest,
          history: "shown",
        });
      case "resume":
        return setup.follow(request, sessionRequest.sessionId, {
          ...sessionRequest,
          history: "hidden",
        });
      case "fork":
        return fork(request, sessionRequest.sessionId, sessionRequest);
      case "list":
        return list(request, sessionRequest);
      case "close":
        return close(request, sessionRequest.sessionId);
      case "delete":
        return remove(request, sessionRequest.sessionId);
      case "cancel":
        return cancel(request, sessionRequest.sessionId);
      case "attach":
      case "heartbeat":
      case "detach":
      case "clients":
        return handleLiveClientRequest(request, sessionRequest, { link, table });
      case "arguments":
        return readArguments(request, sessionRequest);
      case "configure":
        return configure(request, sessionRequest);
      case "prompt":
        return prompt(request, sessionRequest);
    }
  }

  return {
    perform: (request, sessionRequest) =>
      respondToErrors(request, () => dispatch(request, sessionRequest)),
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
      link.log("an answer is about a session that its client has left", { sessionId, approvalId });
    },
    async declareHost(request) {
      for (const [sessionId, session] of table.all()) {
        // A client that attaches under a name of its own says who it is.
        const isAttaching = request.type === "attach" && request.sessionId === sessionId;
        if (!isAttaching) await session.declareHost();
      }
    },
    async bringAgain() {
      const followed = Array.from(table.all()).filter(([, session]) => session.isFollowing);
      await Promise.all(followed.map(([, session]) => session.setClientTools()));
    },
    async disconnectAll(reason) {
      await Promise.all(Array.from(table.all(), ([, session]) => session.disconnect(reason)));
    },
  };
}

/** Sessions in one answer. */
const PAGE_SIZE = 50;
