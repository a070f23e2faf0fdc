import { spawn, type ChildProcess } from "node:child_process";
import { Readable, Writable, type Duplex } from "node:stream";
import * as sdk0 from "@agentclientprotocol/sdk";
import * as sdk1 from "acp-sdk-1";
import * as sdk2 from "acp-sdk-2";
import { onTestFinished } from "vitest";
import { formatTail, withDeadline } from "../with-deadline.ts";

/** The files and terminals of an editor. Its buffers are never saved, and a terminal is a real process. */
export interface EditorMachine {
  /** By absolute path. */
  readonly buffers: Map<string, string>;
  /** The received requests: the method, and the path or the terminal. */
  readonly requests: readonly string[];
  /** Terminals that were not released. */
  readonly terminals: ReadonlyMap<string, { readonly child: ChildProcess }>;
  /** Replacements for the default behaviour, by method. */
  readonly overrides: Map<string, (params: Params) => Promise<object>>;
  /** Resolves when a request with this method is received. */
  waitForRequest(method: string): Promise<void>;
  perform(method: string, params: Params): Promise<object>;
}

interface Params {
  readonly path?: string;
  readonly content?: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly cwd?: string | null;
  readonly terminalId?: string;
}

export function createEditorMachine(buffers: Readonly<Record<string, string>> = {}): EditorMachine {
  const storedBuffers = new Map(Object.entries(buffers));
  const terminals = new Map<string, Terminal>();
  const requests: string[] = [];
  const overrides: EditorMachine["overrides"] = new Map();
  let waiting: (() => void)[] = [];
  const known = (id = ""): Terminal => {
    const terminal = terminals.get(id);
    if (terminal === undefined) throw new Error(`No terminal ${id}`);
    return terminal;
  };
  onTestFinished(() => {
    for (const { child } of terminals.values()) child.kill("SIGKILL");
  });

  async function done(method: string, params: Params): Promise<object> {
    const { path = "", terminalId } = params;
    switch (method) {
      case "fs/read_text_file": {
        const content = storedBuffers.get(path);
        if (content === undefined) throw new NotFound(path);
        return { content };
      }
      case "fs/write_text_file":
        storedBuffers.set(path, params.content ?? "");
        return {};
      case "terminal/create": {
        const id = `terminal ${terminals.size + 1}`;
        terminals.set(id, startTerminal(params));
        return { terminalId: id };
      }
      case "terminal/wait_for_exit":
        return known(terminalId).exited;
      case "terminal/output":
        return { output: known(terminalId).output(), truncated: false };
      case "terminal/kill":
        known(terminalId).child.kill("SIGKILL");
        return {};
      case "terminal/release":
        known(terminalId).child.kill("SIGKILL");
        terminals.delete(terminalId ?? "");
        return {};
      default:
        throw new Error(`Not known: ${method}`);
    }
  }

  return {
    buffers: storedBuffers,
    requests,
    terminals,
    overrides,
    async waitForRequest(method) {
      while (!requests.some((one) => one.startsWith(method))) {
        const next = new Promise<void>((resolve) => {
          waiting.push(resolve);
        });
        await withDeadline(
          next,
          () => `no request ${method}; these came:\n  ${formatTail(requests)}`,
        );
      }
    },
    async perform(method, params) {
      requests.push(`${method} ${params.path ?? params.terminalId ?? ""}`.trim());
      for (const wake of waiting) wake();
      waiting = [];
      return (overrides.get(method) ?? ((args) => done(method, args)))(params);
    },
  };
}

class NotFound extends Error {}

/** Throws errors in the format of an official client. */
function throwAsClient(sdk: typeof sdk0 | typeof sdk1 | typeof sdk2): (error: unknown) => never {
  return (error) => {
    throw error instanceof NotFound ? sdk.RequestError.resourceNotFound(error.message) : error;
  };
}

interface Terminal {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly exited: Promise<{ readonly exitCode: number | null; readonly signal: string | null }>;
}

/** Starts a process with the whole environment of the editor. */
function startTerminal({ command = "", args = [], cwd }: Params): Terminal {
  const child = spawn(command, args, { cwd: cwd ?? undefined, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const exited = new Promise<Awaited<Terminal["exited"]>>((resolve) => {
    child.on("close", (exitCode, signal) => resolve({ exitCode, signal }));
  });
  return { child, output: () => output, exited };
}

/** An official client with such a machine. It approves every request. */
export interface EditorClient {
  newSession(cwd: string): Promise<string>;
  loadSession(sessionId: string, cwd: string): Promise<void>;
  prompt(sessionId: string, text: string): Promise<string>;
  cancel(sessionId: string): Promise<void>;
  /** The received updates of tool calls. */
  readonly toolUpdates: readonly ToolUpdate[];
  /** The tool calls in the received permission requests. */
  readonly permissionRequests: readonly ToolUpdate[];
}

export interface ToolUpdate {
  readonly sessionUpdate?: string;
  readonly status?: string | null;
  readonly content?: readonly object[] | null;
}

const CAPABILITIES = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };
export type Capabilities = Partial<typeof CAPABILITIES>;

type Connect = (
  streams: Duplex | Pipes,
  machine: EditorMachine,
  capabilities?: Capabilities,
) => Promise<EditorClient>;

interface Pipes {
  readonly input: Writable;
  readonly output: Readable;
}

export const EDITORS: readonly (readonly [version: string, connect: Connect])[] = [
  ["0.20", (...args) => connectClassEditor(sdk0, ...args)],
  ["1.9", (...args) => connectClassEditor(sdk1, ...args)],
  ["2.4", connectAppEditor],
];

export const connectEditor: Connect = (...args) => connectClassEditor(sdk0, ...args);

function createUpdateRecorder() {
  const toolUpdates: ToolUpdate[] = [];
  const permissionRequests: ToolUpdate[] = [];
  return {
    toolUpdates,
    permissionRequests,
    update: (update: object): void => {
      if ("sessionUpdate" in update && String(update.sessionUpdate).startsWith("tool_call")) {
        toolUpdates.push(update as ToolUpdate);
      }
    },
    permission: ({ toolCall, options }: PermissionQuestion) => {
      permissionRequests.push(toolCall);
      const optionId = options.find(({ kind }) => kind === "allow_once")?.optionId ?? "";
      return { outcome: { outcome: "selected" as const, optionId } };
    },
  };
}

interface PermissionQuestion {
  readonly toolCall: ToolUpdate;
  readonly options: readonly { readonly optionId: string; readonly kind: string }[];
}

function initialize(capabilities: Capabilities = CAPABILITIES) {
  return {
    protocolVersion: 1,
    clientCapabilities: capabilities,
    clientInfo: { name: "editor", version: "1" },
  };
}

function toWebStreams(streams: Duplex | Pipes) {
  const { input, output } = "input" in streams ? streams : { input: streams, output: streams };
  return [Writable.toWeb(input), Readable.toWeb(output) as ReadableStream<Uint8Array>] as const;
}

const METHODS = [
  ["fs/read_text_file", "readTextFile"],
  ["fs/write_text_file", "writeTextFile"],
  ["terminal/create", "createTerminal"],
  ["terminal/output", "terminalOutput"],
  ["terminal/wait_for_exit", "waitForTerminalExit"],
  ["terminal/kill", "killTerminal"],
  ["terminal/release", "releaseTerminal"],
] as const;

async function connectClassEditor(
  sdk: typeof sdk0 | typeof sdk1,
  streams: Duplex | Pipes,
  machine: EditorMachine,
  capabilities?: Capabilities,
): Promise<EditorClient> {
  const { update, permission, ...recorded } = createUpdateRecorder();
  const performs = METHODS.map(([method, name]) => [
    name,
    (params: Params) => machine.perform(method, params).catch(throwAsClient(sdk)),
  ]);
  const client = {
    sessionUpdate: async (notification: { update: object }) => update(notification.update),
    requestPermission: async (question: PermissionQuestion) => permission(question),
    extNotification: async () => undefined,
    ...Object.fromEntries(performs),
  };
  const connection = new sdk.ClientSideConnection(
    () => client,
    sdk.ndJsonStream(...toWebStreams(streams)),
  );
  await connection.initialize(initialize(capabilities));
  return {
    ...recorded,
    newSession: async (cwd) => (await connection.newSession({ cwd, mcpServers: [] })).sessionId,
    async loadSession(sessionId, cwd) {
      await connection.loadSession({ sessionId, cwd, mcpServers: [] });
    },
    async prompt(sessionId, promptText) {
      const prompt = [{ type: "text" as const, text: promptText }];
      return (await connection.prompt({ sessionId, prompt })).stopReason;
    },
    cancel: (sessionId) => connection.cancel({ sessionId }),
  };
}

async function connectAppEditor(
  streams: Duplex | Pipes,
  machine: EditorMachine,
  capabilities?: Capabilities,
): Promise<EditorClient> {
  const { update, permission, ...recorded } = createUpdateRecorder();
  let app = sdk2
    .client()
    .onNotification("session/update", ({ params }) => update(params.update))
    .onRequest("session/request_permission", ({ params }) =>
      permission(params as PermissionQuestion),
    );
  for (const [method] of METHODS) {
    const perform = ({ params }: { readonly params: object }): Promise<never> =>
      machine.perform(method, params).catch(throwAsClient(sdk2)) as Promise<never>;
    app = app.onRequest(method, perform);
  }
  const { agent: to } = app.connect(sdk2.ndJsonStream(...toWebStreams(streams)));
  await to.request("initialize", initialize(capabilities));
  return {
    ...recorded,
    newSession: async (cwd) => (await to.request("session/new", { cwd, mcpServers: [] })).sessionId,
    async loadSession(sessionId, cwd) {
      await to.request("session/load", { sessionId, cwd, mcpServers: [] });
    },
    async prompt(sessionId, promptText) {
      const params = { sessionId, prompt: [{ type: "text", text: promptText }] } as const;
      return (await to.request<sdk2.PromptResponse>("session/prompt", params)).stopReason;
    },
    cancel: (sessionId) => to.notify("session/cancel", { sessionId }),
  };
}
