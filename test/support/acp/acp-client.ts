import { createConnection, createServer, type AddressInfo, type Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { expect, onTestFinished } from "vitest";
import type { Principal } from "../../../src/domain/actor.ts";
import { isObject, parseJson, type JsonValue } from "../../../src/data/json.ts";
import type { Sessions } from "../../../src/session/sessions.ts";
import { serveAcp, type ServeAcpOptions } from "../../../src/surfaces/acp/connection/serve-acp.ts";
import { findAcpProblems } from "./acp-schema.ts";
import { formatTail, PROCESS_MS, WAIT_MS, withDeadline } from "../with-deadline.ts";

export const USER: Principal = { id: "user", rights: ["prompt", "approve", "control"] };

export type Message = { readonly [key: string]: JsonValue };

/** A field of a message as a string. */
export function readText(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

interface SocketService {
  /** The client's end of a real socket. */
  readonly socket: Socket;
  /** Resolves when the surface has released the connection. */
  readonly done: Promise<void>;
  readonly notes: readonly string[];
}

type ServeOptions = Partial<Omit<ServeAcpOptions, "sessions" | "input" | "output">>;

/** Serves the ACP surface on a socket. Returns the client's end. */
export async function serveOnSocket(
  sessions: Sessions,
  options: ServeOptions = {},
): Promise<SocketService> {
  const notes: string[] = [];
  const log = (message: string): void => void notes.push(message);
  const server = createServer({ allowHalfOpen: true, noDelay: true });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const served = new Promise<void>((resolve, reject) => {
    server.once("connection", (input) => {
      serveAcp({ sessions, input, output: input, principal: USER, log, ...options })
        .finally(() => input.end())
        .then(resolve, reject);
    });
  });
  const { port } = server.address() as AddressInfo;
  const socket = createConnection({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {});
  await new Promise<void>((resolve) => {
    socket.once("connect", resolve);
  });
  onTestFinished(async () => {
    socket.destroy();
    await served;
    server.close();
  });
  return { socket, done: served, notes };
}

/** An ACP client over any transport. Every received message is validated against the schemas of ACP. */
export interface AcpPeer {
  /** All messages of the agent, in order. */
  readonly messages: readonly Message[];
  send(message: unknown): void;
  /** Sends a request and resolves with the whole response. */
  request(method: string, params?: unknown): Promise<Message>;
  /** Sends a request and resolves with its result. Throws if the response is an error. */
  requestResult(method: string, params?: unknown): Promise<Message>;
  /** The first matching message, already received or future. Fails if the agent stops sending before the match. */
  waitForMessage(matches: (message: Message) => boolean): Promise<Message>;
  /** The received `session/update` notifications, without the list of commands which follows every setup. */
  listUpdates(sessionId?: string): readonly Message[];
  /** Sends `initialize` and `session/new`. */
  newSession(cwd?: string): Promise<string>;
  /** Responds to requests for the host's tools, shells and skills from now on, as a host which has none. */
  refuseHostLists(): void;
}

/** A client that writes and reads plain lines. */
export interface LineClient extends AcpPeer {
  sendText(text: string): void;
}

export interface AcpClient extends SocketService, LineClient {}

export async function connectAcpClient(
  sessions: Sessions,
  options: ServeOptions = {},
): Promise<AcpClient> {
  const served = await serveOnSocket(sessions, options);
  return { ...served, ...createLineClient(served.socket, served.socket) };
}

/** A client at the other end of a socket or of the pipes of a process. */
export function createLineClient(from: Readable, to: Writable): LineClient {
  let rest = "";
  const sendText = (text: string): void => void to.write(text);
  const { take, ...talk } = createAcpPeer((line) => sendText(`${line}\n`));
  from.setEncoding("utf8");
  from.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  });
  onTestFinished(async () => {
    // A part of a line may still be in transit.
    const isHalf = (): boolean => rest !== "" && from.readable;
    while (isHalf()) await withDeadline(waitForData(from), () => `half a line was sent: ${rest}`);
    // The rest never arrives if the test itself has closed the connection.
    if (from.readableEnded || !from.destroyed) expect(rest).toBe("");
  });
  return { ...talk, sendText };
}

function waitForData(from: Readable): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      from.off("data", done).off("close", done);
      resolve();
    };
    from.on("data", done).on("close", done);
  });
}

/** Call `take` with each received message. */
export function createAcpPeer(
  write: (text: string) => void,
): AcpPeer & { readonly take: (text: string) => void } {
  const messages: Message[] = [];
  const problems: string[] = [];
  const methods = new Map<JsonValue, string>();
  let watchers: (() => void)[] = [];
  let sent = 0;
  let refusesHostLists = false;

  function take(line: string): void {
    const parsed = parseJson(line);
    if (!parsed.ok || !isObject(parsed.value)) return void problems.push(`not an object: ${line}`);
    const message = parsed.value;
    problems.push(...findAcpProblems(message, methods.get(message["id"] ?? null)));
    messages.push(message);
    if (refusesHostLists && isHostListRequest(message)) refuse(message);
    const waking = watchers;
    watchers = [];
    for (const wake of waking) wake();
  }

  onTestFinished(() => expect(problems).toEqual([]));

  const send = (message: unknown): void => write(JSON.stringify(message));

  function refuse({ id }: Message): void {
    send({ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } });
  }

  async function find(
    matches: (message: Message) => boolean,
    silentMs = WAIT_MS,
  ): Promise<Message> {
    for (;;) {
      const found = messages.find(matches);
      if (found !== undefined) return found;
      const next = new Promise<void>((resolve) => {
        watchers.push(resolve);
      });
      await withDeadline(
        next,
        () => `the agent's messages end with\n  ${formatTail(messages)}`,
        silentMs,
      );
    }
  }

  function request(method: string, params: unknown = {}): Promise<Message> {
    const id = (sent += 1);
    methods.set(id, method);
    send({ jsonrpc: "2.0", id, method, params });
    const isAnswer = (message: Message): boolean =>
      message["id"] === id && message["method"] === undefined;
    const answer = find(isAnswer, PROCESS_MS);
    // A test may leave a prompt without a response on purpose.
    answer.catch(() => {});
    return answer;
  }

  async function result(method: string, params?: unknown): Promise<Message> {
    const answer = await request(method, params);
    if (!isObject(answer["result"])) throw new Error(`no result: ${JSON.stringify(answer)}`);
    return answer["result"];
  }

  return {
    take,
    messages,
    send,
    request,
    requestResult: result,
    waitForMessage: (matches) => find(matches),
    listUpdates: (sessionId) =>
      messages.flatMap(({ method, params }) =>
        method === "session/update" &&
        isObject(params) &&
        (sessionId ?? params["sessionId"]) === params["sessionId"] &&
        isObject(params["update"]) &&
        params["update"]["sessionUpdate"] !== "available_commands_update"
          ? [params["update"]]
          : [],
      ),
    async newSession(cwd = "/work") {
      await request("initialize", {
        protocolVersion: 1,
        clientInfo: { name: "test", version: "1" },
      });
      const { sessionId } = await result("session/new", { cwd, mcpServers: [] });
      return readText(sessionId);
    },
    refuseHostLists() {
      refusesHostLists = true;
    },
  };
}

function isHostListRequest({ method }: Message): boolean {
  return HOST_LISTS.has(readText(method));
}

const HOST_LISTS = new Set(["host/tools/list", "host/call", "host_call", "skills/list"]);
