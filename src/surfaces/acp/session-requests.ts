import type { ApprovalRequested } from "../../domain/agent-event.ts";
import { errorFrom, SpanlineError } from "../../domain/errors.ts";
import { jsonText } from "../../domain/json.ts";
import { doneAnswer, listAnswer } from "../../wire/acp/agent-answers.ts";
import { failureError } from "../../wire/acp/failure-error.ts";
import type { ClientRequest, SessionSetup } from "../../wire/acp/client-request.ts";
import { optionsAnswer } from "../../wire/acp/session-modes.ts";
import { internalError, type RpcError } from "../../wire/jsonrpc/rpc-error.ts";
import { answeredAnswer } from "../../wire/acp/prompt-answer.ts";
import { commandAnswer } from "../../wire/acp/slash-commands.ts";
import type { RequestId, RpcAnswer, RpcRequest } from "../../wire/jsonrpc/rpc-message.ts";
import type { AcpSession } from "./acp-session.ts";
import type { ClientLink } from "./client-link.ts";
import { findSession } from "./find-session.ts";
import { answerLive } from "./live-requests.ts";
import { readTyped } from "./slash-commands.ts";
import { sessionTable } from "./session-table.ts";
import { setupRequests } from "./setup-requests.ts";

export type SessionRequest = Exclude<ClientRequest, { type: "initialize" | "authenticate" }>;

/** What a client can want of its sessions. Each is done when the session has taken it, not when its turn is over. */
export interface SessionRequests {
  perform(request: RpcRequest, wanted: SessionRequest): Promise<void>;
  cancel(sessionId: string): Promise<void>;
  /** One prompt is not wanted any more. Other requests are answered soon anyway. */
  cancelPrompt(sessionId: string, requestId: RequestId): Promise<void>;
  answered(sessionId: string, approval: ApprovalRequested, answer: RpcAnswer): Promise<void>;
  /** The client turned out to use the bridge protocol: its sessions have it as a stock client no longer. */
  declareHost(request: SessionRequest): Promise<void>;
  /** The client has other tools or shells than before. */
  bringAgain(): Promise<void>;
  leave(reason: string): Promise<void>;
}

/** `fixed` is what `session/new` gives instead of a new session: an id, or "latest". */
export function sessionRequests(link: ClientLink, fixed: string | undefined): SessionRequests {
  const { sessions } = link;
  const { principal } = link.sender;
  const table = sessionTable(link);
  const setup = setupRequests(link, table, fixed);

  /** What the client has begun ends, and what nobody else follows; the session itself stays. */
  async function close(request: RpcRequest, sessionId: string): Promise<void> {
    const session = table.known(sessionId);
    if (session === undefined) await table.find(sessionId);
    await leave(sessionId, session);
    link.answer(request, { ok: true, result: doneAnswer() });
  }

  /** Known until that is done: the connection may end before. */
  async function leave(sessionId: string, session: AcpSession | undefined): Promise<void> {
    try {
      await session?.close();
    } finally {
      table.forget(sessionId);
    }
  }

  async function remove(request: RpcRequest, sessionId: string): Promise<void> {
    await leave(sessionId, table.known(sessionId));
    // One that is not there, or is another's, is gone for this client already.
    const found = await findSession(sessions, sessionId, principal);
    if (found !== undefined) await sessions.delete(sessionId);
    link.answer(request, { ok: true, result: doneAnswer() });
  }

  async function fork(request: RpcRequest, source: string, wanted: SessionSetup): Promise<void> {
    const enter = await setup.fork(request, source, wanted);
    link.aside(() => answering(request, enter));
  }

  /** A request has an answer, whatever comes of what it asks for. */
  async function answering(request: RpcRequest, perform: () => Promise<void>): Promise<void> {
    try {
      await perform();
    } catch (error) {
      link.answer(request, { ok: false, error: errorOf(error) });
      if (!(error instanceof SpanlineError)) throw error;
    }
  }

  async function list(
    request: RpcRequest,
    { workingDirectory, folders, page }: Extract<SessionRequest, { type: "list" }>,
  ): Promise<void> {
    const found = await sessions.list({
      limit: PAGE,
      principal: principal.id,
      ...(workingDirectory !== undefined && { workingDirectory }),
      ...(page !== undefined && { page }),
    });
    const wanted = jsonText(folders ?? []);
    const listed = found.sessions.filter(
      (one) => folders === undefined || jsonText(one.folders) === wanted,
    );
    link.answer(request, { ok: true, result: listAnswer(listed, found.nextPage) });
  }

  async function configure(
    request: RpcRequest,
    { sessionId, command, answer }: Extract<SessionRequest, { type: "configure" }>,
  ): Promise<void> {
    const session = await table.takeUp(sessionId);
    const reply = await session.command(command);
    if (reply.status === "refused") throw errorFrom(reply.failure);
    const result = answer === "options" ? optionsAnswer(command.mode) : doneAnswer();
    link.answer(request, { ok: true, result });
  }

  async function readArguments(
    request: RpcRequest,
    wanted: Extract<SessionRequest, { type: "arguments" }>,
  ): Promise<void> {
    await table.find(wanted.sessionId);
    const result = table.session(wanted.sessionId).readArguments(wanted);
    link.answer(request, { ok: true, result });
  }

  async function prompt(
    request: RpcRequest,
    { sessionId, command, commandId }: Extract<SessionRequest, { type: "prompt" }>,
  ): Promise<void> {
    const session = await table.takeUp(sessionId);
    const typed = await readTyped(command, { sessionId, session, link });
    if (typed.type === "prompt") return session.prompt(request, typed.prompt, commandId);
    // For the one who asked alone, whatever else is going on in the session.
    for (const update of commandAnswer(String(request.id), typed.text)) {
      link.update(sessionId, update);
    }
    link.answer(request, answeredAnswer());
  }

  /** ACP defines it as a notification; a client that sends a request gets a result. */
  async function cancel(request: RpcRequest, sessionId: string): Promise<void> {
    const session = table.known(sessionId);
    if (session === undefined) {
      await table.find(sessionId);
      throw new SpanlineError("access_denied", "This client is not in the session; load it first");
    }
    const refusal = await session.cancel();
    if (refusal !== undefined) throw errorFrom(refusal);
    link.answer(request, { ok: true, result: doneAnswer() });
  }

  async function dispatch(request: RpcRequest, wanted: SessionRequest): Promise<void> {
    switch (wanted.type) {
      case "new":
        return setup.begin(request, wanted);
      case "load":
        return setup.follow(request, wanted.sessionId, { ...wanted, history: "shown" });
      case "resume":
        return setup.follow(request, wanted.sessionId, { ...wanted, history: "hidden" });
      case "fork":
        return fork(request, wanted.sessionId, wanted);
      case "list":
        return list(request, wanted);
      case "close":
        return close(request, wanted.sessionId);
      case "delete":
        return remove(request, wanted.sessionId);
      case "cancel":
        return cancel(request, wanted.sessionId);
      case "attach":
      case "heartbeat":
      case "detach":
      case "clients":
        return answerLive(request, wanted, { link, table });
      case "arguments":
        return readArguments(request, wanted);
      case "configure":
        return configure(request, wanted);
      case "prompt":
        return prompt(request, wanted);
    }
  }

  return {
    perform: (request, wanted) => answering(request, () => dispatch(request, wanted)),
    async cancel(sessionId) {
      await table.known(sessionId)?.cancel();
    },
    async cancelPrompt(sessionId, requestId) {
      await table.known(sessionId)?.cancel(requestId);
    },
    async answered(sessionId, approval, answer) {
      const session = table.known(sessionId);
      if (session !== undefined) return session.answered(approval, answer);
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
      const followed = Array.from(table.all()).filter(([, session]) => session.isFollowed);
      await Promise.all(followed.map(([, session]) => session.equip()));
    },
    async leave(reason) {
      await Promise.all(Array.from(table.all(), ([, session]) => session.leave(reason)));
    },
  };
}

/** What went wrong inside is for the log, not for the client. */
function errorOf(error: unknown): RpcError {
  return error instanceof SpanlineError
    ? failureError(error.toFailure())
    : internalError("Internal error");
}

/** Sessions in one answer. */
const PAGE = 50;
