import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";

/** An editor with an ACP agent as its child process. It approves every request. */
export interface EditorProcess {
  readonly process: ChildProcess;
  /** Sends `initialize` and `session/new`. */
  newSession(): Promise<string>;
  /** Resolves with the stop reason of the turn. */
  prompt(sessionId: string, text: string): Promise<string>;
  /** Resolves when an update of this kind has been received. */
  waitForUpdate(kind: string): Promise<void>;
  /** The text of the agent in all sessions. */
  readonly receivedText: string;
  /** The titles of the received permission requests. */
  readonly permissionTitles: readonly string[];
}

interface Line {
  readonly id?: number | string;
  readonly method?: string;
  readonly result?: { readonly sessionId?: string; readonly stopReason?: string };
  readonly error?: { readonly message: string };
  readonly params?: {
    readonly options?: readonly { readonly optionId: string }[];
    readonly toolCall?: { readonly title?: string };
    readonly update?: {
      readonly sessionUpdate: string;
      readonly content?: { readonly text?: string };
    };
  };
}

export function startEditorProcess(
  command: readonly string[],
  errors: (text: string) => void,
): EditorProcess {
  const child = spawn(process.execPath, ["--no-warnings", ...command], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stderr.setEncoding("utf8").on("data", errors);
  child.stdin.on("error", () => {});
  const waiting = new Map<number | string, (line: Line) => void>();
  const kinds = new Map<string, { readonly done: Promise<void>; resolve(): void }>();
  const permissionTitles: string[] = [];
  let receivedText = "";
  let lastId = 0;

  const send = (message: object): void => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  };
  const kind = (name: string) => {
    let one = kinds.get(name);
    if (one === undefined) {
      let resolve = (): void => {};
      const done = new Promise<void>((settle) => {
        resolve = settle;
      });
      one = { done, resolve: () => resolve() };
      kinds.set(name, one);
    }
    return one;
  };
  const request = (method: string, params: object): Promise<Line> => {
    lastId += 1;
    const id = lastId;
    send({ id, method, params });
    return new Promise((resolve) => {
      waiting.set(id, resolve);
    });
  };
  createInterface({ input: child.stdout }).on("line", (text) => {
    const line: Line = JSON.parse(text);
    if (line.method === "session/request_permission") {
      const optionId = line.params?.options?.[0]?.optionId ?? "";
      permissionTitles.push(line.params?.toolCall?.title ?? "");
      return send({ id: line.id, result: { outcome: { outcome: "selected", optionId } } });
    }
    const update = line.params?.update;
    if (update !== undefined) {
      if (update.sessionUpdate === "agent_message_chunk")
        receivedText += update.content?.text ?? "";
      return kind(update.sessionUpdate).resolve();
    }
    if (line.id !== undefined) waiting.get(line.id)?.(line);
  });

  return {
    process: child,
    permissionTitles,
    get receivedText() {
      return receivedText;
    },
    waitForUpdate: (name) => kind(name).done,
    async newSession() {
      await request("initialize", { protocolVersion: 1, clientCapabilities: {} });
      const { result, error } = await request("session/new", {
        cwd: process.cwd(),
        mcpServers: [],
      });
      if (result?.sessionId === undefined) throw new Error(error?.message ?? "no session");
      return result.sessionId;
    },
    async prompt(sessionId, text) {
      const params = { sessionId, prompt: [{ type: "text", text }] };
      const { result, error } = await request("session/prompt", params);
      return result?.stopReason ?? `error: ${error?.message}`;
    },
  };
}
