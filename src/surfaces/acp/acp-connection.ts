import type { Principal } from "../../domain/actor.ts";
import { NO_HOST_TOOLS, type HostToolList } from "../../domain/equipment.ts";
import { isObject } from "../../domain/json.ts";
import type { KnownShells } from "../../domain/shell.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Sessions } from "../../session/sessions.ts";
import { initializeAnswer } from "../../wire/acp/agent-answers.ts";
import { STOCK_CLIENT, withUpdates, type UpdatesSetting } from "../../wire/acp/client-profile.ts";
import { decodeNotification } from "../../wire/acp/client-notification.ts";
import { decodeRequest, isBridgeMethod } from "../../wire/acp/methods.ts";
import { sharedLines, type SharedLines } from "../../wire/acp/shared-lines.ts";
import { withdrawalLine } from "../../wire/acp/withdrawal-line.ts";
import type { JsonLinesItem } from "../../wire/framing/json-lines.ts";
import { createRpcConnection, type Received } from "../../wire/jsonrpc/rpc-connection.ts";
import { internalError, invalidRequest } from "../../wire/jsonrpc/rpc-error.ts";
import type {
  RequestId,
  RpcAnswer,
  RpcNotification,
  RpcRequest,
} from "../../wire/jsonrpc/rpc-message.ts";
import { GIVEN_NAME, type AcpLog, type ClientLink } from "./client-link.ts";
import { clientRoom } from "./client-room.ts";
import { countedTurns, type CountTurn } from "./counted-turns.ts";
import { createLanes } from "./lanes.ts";
import { lateAnswers } from "./late-answers.ts";
import type { LineWriter } from "./line-writer.ts";
import type { SessionRequest, SessionRequests } from "./session-requests.ts";

export interface AcpConnectionOptions {
  readonly sessions: Sessions;
  readonly principal: Principal;
  /** Whether that is this machine's user, who says where sessions work and what is started for them. */
  readonly isUser: boolean;
  /** Whether the client is a program of this machine, so that its files are those that sessions work with. */
  readonly isHere: boolean;
  /** Whether the client is told with each update where it can go on from. */
  readonly hasCursors: boolean;
  /** Names this connection among all others. */
  readonly connectionId: string;
  /** What `session/new` gives instead of a new session: the newest one, or the one with this id. */
  readonly session?: string;
  /** What the client is sent. A promise, such as of a configuration that is being read, does not delay `initialize`. Default: `auto`. */
  readonly updates?: UpdatesSetting | Promise<UpdatesSetting>;
  readonly version: string;
  readonly clock: Clock;
  readonly writer: LineWriter;
  /** Shared with other connections, where there are any. */
  readonly lines?: SharedLines;
  /** Where turns are limited. */
  readonly countTurn?: CountTurn;
  readonly log: AcpLog;
  /** Notes about what is nobody's fault. */
  readonly detail?: AcpLog;
}

/** One client's connection: what comes in by the line, and who deals with it. */
export interface AcpConnection {
  readonly isInitialized: boolean;
  receive(item: JsonLinesItem): void;
  /** Whether what has come in is too far ahead of what was done about it, or of what the client has read. */
  readonly isFull: boolean;
  /** Resolves when it is not. */
  calm(): Promise<void>;
  /** Resolves when everything that came in is dealt with. */
  idle(): Promise<void>;
  /** The client goes; its sessions stay. */
  leave(reason: string): Promise<void>;
}

/** Something that the client was asked, and what is done with its answer. */
interface Question {
  /** What it is about, as far as it says: it is taken back where it was asked. */
  readonly sessionId: string | undefined;
  /** Not that of the session's other requests: the turn waits for it. */
  readonly lane: string;
  readonly answered: (answer: RpcAnswer) => Promise<void>;
}

export function createAcpConnection(options: AcpConnectionOptions): AcpConnection {
  const { sessions, principal, connectionId, version, writer, clock, log, detail } = options;
  const { lines = sharedLines(), updates = "auto", countTurn = () => () => {} } = options;
  const turns = countedTurns(countTurn);
  const rpc = createRpcConnection<Question>({ epoch: connectionId });
  const lanes = createLanes((error) => log("a request went wrong", { error: String(error) }));
  /** The sessions of prompts that have no answer yet. */
  const prompts = new Map<RequestId, string>();
  let clientName: string | undefined;
  let setting: UpdatesSetting = typeof updates === "string" ? updates : "auto";
  let declared = STOCK_CLIENT;
  let callsBridge = false;
  let profile = STOCK_CLIENT;
  /** Resolves when the setting is known. */
  let ready: Promise<void> = Promise.resolve();
  /** Whether sessions that the client joined before it called a method of the bridge have it as a stock client. */
  let isUndeclared = false;
  let tools: Promise<HostToolList> = Promise.resolve(NO_HOST_TOOLS);
  let shells: Promise<KnownShells | undefined> = Promise.resolve(undefined);
  let asked = 0;
  let alone = 0;
  const gone = new AbortController();
  const late = lateAnswers();
  const room = clientRoom(writer);

  function put(
    { method, params }: { readonly method: string; readonly params: unknown },
    question: Omit<Question, "sessionId">,
  ): string | undefined {
    const sessionId = sessionIn(params);
    const sent = rpc.request(method, params, { ...question, sessionId });
    if (sent !== undefined) writer.write(sent.line, sessionId);
    return sent?.id;
  }

  const link: ClientLink = {
    sessions,
    sender: { principal, clientId: `${GIVEN_NAME}${connectionId}` },
    isUser: options.isUser,
    isHere: options.isHere,
    clock,
    gone: gone.signal,
    log,
    name: () => clientName ?? "",
    profile: () => profile,
    hasCursors: options.hasCursors,
    update: (...told) => writer.write(lines.update(...told), told[0]),
    event: (...told) => writer.write(lines.event(...told), told[0]),
    answer(request, outcome) {
      prompts.delete(request.id);
      turns.end(request);
      const line = rpc.answer(request, outcome);
      if (line !== undefined) writer.write(line, sessionIn(request.params));
    },
    ask: (sessionId, { approval, request: wanted }) =>
      put(wanted, {
        lane: approval.approvalId,
        answered: async (answer) => (await requests()).answered(sessionId, approval, answer),
      }),
    request(wanted, answered) {
      asked += 1;
      return put(wanted, { lane: `host ${asked}`, answered });
    },
    tools: () => tools,
    shells: () => shells,
    aside: (task) => lanes.run(ownLane(), task),
    withdraw(questionId, answered) {
      const question = rpc.forget(questionId);
      if (question === undefined) return;
      writer.write(withdrawalLine(questionId), question.sessionId);
      if (answered !== undefined) late.keep(questionId, answered);
    },
    hasRoom: (sessionId) => room.has(sessionId),
    room: (sessionId) => room.wait(sessionId),
    drop: (sessionId) => writer.drop?.(sessionId) ?? false,
  };
  let loaded: Promise<SessionRequests> | undefined;
  /** An editor waits for the answer to `initialize`: what its sessions need is loaded behind that. */
  function requests(): Promise<SessionRequests> {
    loaded ??= loadRequests(link, options.session).catch((error: unknown) => {
      // The next request tries again.
      loaded = undefined;
      throw error;
    });
    return loaded;
  }

  async function perform(given: RpcRequest, wanted: SessionRequest): Promise<void> {
    let own: SessionRequests;
    try {
      await ready;
      own = await requests();
      if (isUndeclared) {
        isUndeclared = false;
        await own.declareHost(wanted);
      }
    } catch (error) {
      link.answer(given, { ok: false, error: internalError("Internal error") });
      throw error;
    }
    await own.perform(given, wanted);
  }

  function unasked<Value>(nothing: Value): Value {
    log("what a host has cannot be asked for");
    return nothing;
  }

  function changeProfile(): void {
    profile = withUpdates(declared, setting, callsBridge);
  }

  async function applySetting(pending: Promise<UpdatesSetting>): Promise<void> {
    setting = await pending;
    changeProfile();
    requestLists();
  }

  const mayBring = principal.rights.includes("control");

  /** Shells are those of this machine; whether a client that came by a server runs here, only the setting says. */
  function hasShellsHere(): boolean {
    const isHere = options.isHere || (options.isUser && setting === "bridge");
    return profile.hasShells && isHere;
  }

  /** Asks the host for its lists. The set-up of a session waits for them. */
  function requestLists(): void {
    if (!mayBring) return;
    if (profile.hasTools) tools = loadTools(link).catch(() => unasked(NO_HOST_TOOLS));
    if (hasShellsHere()) shells = loadShells(link).catch(() => unasked(undefined));
  }

  /** The same for a host that turned out to be one: its sessions get the lists when they are there, and nothing waits. */
  async function requestListsLater(): Promise<void> {
    const [list, found] = await Promise.all([
      loadTools(link),
      hasShellsHere() ? loadShells(link) : undefined,
    ]);
    tools = Promise.resolve(list);
    shells = Promise.resolve(found);
    if (!gone.signal.aborted) await (await requests()).bringAgain();
  }

  function bridgeCalled(): void {
    callsBridge = true;
    changeProfile();
    isUndeclared = !declared.usesBridge;
    if (declared.usesBridge || setting !== "auto" || !mayBring) return;
    requestListsLater().catch((error: unknown) =>
      log("the lists of a host cannot be used", { error: String(error) }),
    );
  }

  /**
   * What is about one session is done in its order. What makes a session, or lists some, waits for nobody: a set-up may take
   * as long as its slowest server; but where all are given the same session, that has its order.
   */
  function laneOf(wanted: SessionRequest): string {
    if ("sessionId" in wanted) return wanted.sessionId;
    return options.session === undefined ? ownLane() : "";
  }

  function ownLane(): string {
    alone += 1;
    return `alone ${alone}`;
  }

  function request(given: RpcRequest): void {
    const { method, params } = given;
    const wanted = decodeRequest(method, params);
    if (!wanted.ok) return link.answer(given, wanted);
    if (wanted.value.type === "initialize") {
      const isFirst = clientName === undefined;
      ({ clientName } = wanted.value);
      declared = wanted.value.profile;
      changeProfile();
      link.answer(given, { ok: true, result: initializeAnswer(version) });
      // Beside whatever the client does next.
      if (isFirst && typeof updates === "string") requestLists();
      else if (isFirst && typeof updates !== "string") ready = applySetting(updates);
      return lanes.run("", async () => void (await requests()));
    }
    if (clientName === undefined) {
      const error = invalidRequest("the first request is initialize");
      return link.answer(given, { ok: false, error });
    }
    if (!callsBridge && isBridgeMethod(method)) bridgeCalled();
    const { value } = wanted;
    // There is nothing to be done: the next request looks for credentials again.
    if (value.type === "authenticate") return link.answer(given, { ok: true, result: {} });
    const lane = laneOf(value);
    if (value.type === "prompt") {
      const error = turns.begin(given);
      if (error !== undefined) return link.answer(given, { ok: false, error });
      prompts.set(given.id, lane);
    }
    lanes.run(lane, () => perform(given, value));
  }

  function notification({ method, params }: RpcNotification): void {
    const wanted = decodeNotification(method, params);
    if (wanted === undefined) return detail?.("a notification was passed over", { method });
    if (wanted.type === "cancel")
      return lanes.run(wanted.sessionId, async () => (await requests()).cancel(wanted.sessionId));
    // Behind the prompt itself, which may not have begun yet.
    const sessionId = prompts.get(wanted.requestId);
    if (sessionId === undefined) return;
    lanes.run(sessionId, async () => (await requests()).cancelPrompt(sessionId, wanted.requestId));
  }

  function stray(id: RequestId, answer: RpcAnswer): void {
    const answered = late.take(id);
    if (answered === undefined) return detail?.("an answer that nobody waits for", { id });
    lanes.run(`late ${id}`, () => answered(answer));
  }

  function take(message: Received<Question>): void {
    switch (message.type) {
      case "request":
        return request(message);
      case "notification":
        return notification(message);
      case "response":
        return lanes.run(message.waiting.lane, () => message.waiting.answered(message.outcome));
      case "stray":
        return stray(message.id, message.outcome);
      case "refused":
        return writer.write(message.line);
    }
  }

  return {
    get isInitialized() {
      return clientName !== undefined;
    },
    receive(item) {
      if (item.type === "failure") {
        const { error, start } = item;
        return take(rpc.readSkipped({ code: error.code, reason: error.message, start }));
      }
      for (const message of rpc.readAll(item.text)) take(message);
    },
    get isFull() {
      return lanes.unfinished > MOST_TASKS || writer.queued > MOST_UNREAD;
    },
    async calm() {
      await lanes.below(MOST_TASKS);
      await writer.below(MOST_UNREAD);
    },
    idle: () => lanes.below(0),
    async leave(reason) {
      // Some of what it asked may still be under way, and see it only then.
      gone.abort();
      turns.endAll();
      const own = await loaded?.catch(() => undefined);
      await own?.leave(reason);
    },
  };
}

async function loadRequests(
  link: ClientLink,
  session: string | undefined,
): Promise<SessionRequests> {
  const { sessionRequests } = await import("./session-requests.ts");
  return sessionRequests(link, session);
}

async function loadTools(link: ClientLink): Promise<HostToolList> {
  const { hostToolList } = await import("./host-lists.ts");
  return hostToolList(link);
}

async function loadShells(link: ClientLink): Promise<KnownShells | undefined> {
  const { hostShells } = await import("./host-lists.ts");
  return hostShells(link);
}

/** The session that a message is about, as far as it says. */
function sessionIn(params: unknown): string | undefined {
  const sessionId = isObject(params) ? params["sessionId"] : undefined;
  return typeof sessionId === "string" ? sessionId : undefined;
}

/** Characters. Answers to a client that asks and does not read: then it is not heard either. */
const MOST_UNREAD = 4 * 1024 * 1024;
const MOST_TASKS = 512;
