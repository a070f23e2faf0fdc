import { isObject, type JsonObject, type JsonValue } from "../../../domain/json.ts";
import { RPC_CODES } from "../../jsonrpc/rpc-error.ts";
import type { RpcAnswer } from "../../jsonrpc/rpc-message.ts";
import { ACP_CODES } from "../acp-codes.ts";
import { failedAnswer, hostAnswer, type HostAnswer } from "./host-answer.ts";
import type { HostRequest } from "./host-request.ts";
import { read, unreadable, type Reading } from "./reading.ts";

/** What we ask of an editor's files and terminals, and what it answers. `editor-requests.ts` is the other side. */

const FILES = { read: "fs/read_text_file", write: "fs/write_text_file" } as const;

export function readFileRequest(sessionId: string, path: string): HostRequest {
  return { method: FILES.read, params: { sessionId, path } };
}

export function writeFileRequest(sessionId: string, path: string, content: string): HostRequest {
  return { method: FILES.write, params: { sessionId, path, content } };
}

/** One that it has no file for says so: then there is the disk. */
export function fileTextAnswer(answer: RpcAnswer): HostAnswer<string> {
  if (!answer.ok && answer.error.code === ACP_CODES.notFound) return { type: "unsupported" };
  return hostAnswer(FILES.read, answer, fileText);
}

function fileText(result: JsonValue): Reading<string> {
  const text = textIn(result, "content", Infinity);
  if (!text.ok || text.value.length <= MOST_FILE) return text;
  return unreadable(
    `it has more than ${MOST_FILE} characters; save it to have it read on the disk`,
  );
}

/** Characters. The log keeps it. */
const MOST_FILE = 1024 * 1024;

/** Whatever it answers, it wrote, unless it is an error. */
export function fileWrittenAnswer(answer: RpcAnswer): HostAnswer<true> {
  return doneAnswer(FILES.write, answer);
}

const TERMINALS = {
  create: "terminal/create",
  output: "terminal/output",
  wait: "terminal/wait_for_exit",
  kill: "terminal/kill",
  release: "terminal/release",
} as const;

export interface TerminalCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly workingDirectory: string;
  readonly outputBytes: number;
}

export function createTerminalRequest(sessionId: string, wanted: TerminalCommand): HostRequest {
  const { command, args, workingDirectory: cwd, outputBytes: outputByteLimit } = wanted;
  return {
    method: TERMINALS.create,
    params: { sessionId, command, args, cwd, outputByteLimit },
  };
}

export function terminalRequest(
  what: Exclude<keyof typeof TERMINALS, "create">,
  sessionId: string,
  terminalId: string,
): HostRequest {
  return { method: TERMINALS[what], params: { sessionId, terminalId } };
}

export function terminalIdAnswer(answer: RpcAnswer): HostAnswer<string> {
  return hostAnswer(TERMINALS.create, answer, (result) =>
    textIn(result, "terminalId", MOST_ID_CHARACTERS),
  );
}

const MOST_ID_CHARACTERS = 1000;

export interface TerminalText {
  readonly output: string;
  readonly truncated: boolean;
}

export interface TerminalEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

export function terminalTextAnswer(answer: RpcAnswer): HostAnswer<TerminalText> {
  return hostAnswer(TERMINALS.output, answer, (result) => {
    const output = textIn(result, "output", Infinity);
    if (!output.ok) return output;
    const truncated = isObject(result) && result["truncated"] === true;
    return read({ output: output.value, truncated });
  });
}

export function terminalEndAnswer(answer: RpcAnswer): HostAnswer<TerminalEnd> {
  return hostAnswer(TERMINALS.wait, answer, (result) =>
    isObject(result) ? read(endIn(result)) : unreadable("it is not an object"),
  );
}

function endIn({ exitCode, signal }: JsonObject): TerminalEnd {
  return {
    code: typeof exitCode === "number" ? exitCode : null,
    signal: typeof signal === "string" ? signal.slice(0, MOST_SIGNAL_CHARACTERS) : null,
  };
}

const MOST_SIGNAL_CHARACTERS = 40;

function doneAnswer(operation: string, answer: RpcAnswer): HostAnswer<true> {
  if (answer.ok) return { type: "answered", value: true };
  if (answer.error.code === RPC_CODES.methodNotFound) return { type: "unsupported" };
  return failedAnswer(operation, answer.error);
}

function textIn(result: JsonValue, name: string, most: number): Reading<string> {
  const text = isObject(result) ? result[name] : undefined;
  if (typeof text !== "string") return unreadable(`it has no "${name}"`);
  return text.length <= most ? read(text) : unreadable(`its "${name}" is too long`);
}
