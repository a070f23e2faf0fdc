import { isObject, type JsonObject, type JsonValue } from "../../../data/json.ts";
import { RPC_CODES } from "../../jsonrpc/rpc-error.ts";
import type { RpcResponse } from "../../jsonrpc/rpc-message.ts";
import { ACP_CODES } from "../acp-codes.ts";
import { createFailedReply, readHostReply, type HostReply } from "./host-reply.ts";
import type { HostRequest } from "./host-request.ts";
import { acceptValue, rejectValue, type ReadResult } from "./read-result.ts";

/**
 * Encodes requests for an editor's files and terminals and reads the replies. `decode-editor-requests.ts` is the
 * editor's side.
 */

const FILE_METHODS = { read: "fs/read_text_file", write: "fs/write_text_file" } as const;

export function encodeReadFileRequest(sessionId: string, path: string): HostRequest {
  return { method: FILE_METHODS.read, params: { sessionId, path } };
}

export function encodeWriteFileRequest(
  sessionId: string,
  path: string,
  content: string,
): HostRequest {
  return { method: FILE_METHODS.write, params: { sessionId, path, content } };
}

/** Reads the text of a file. `unsupported` if the editor does not have the file: the caller then reads the disk. */
export function readFileTextReply(answer: RpcResponse): HostReply<string> {
  if (!answer.ok && answer.error.code === ACP_CODES.notFound) return { type: "unsupported" };
  return readHostReply(FILE_METHODS.read, answer, readFileText);
}

function readFileText(result: JsonValue): ReadResult<string> {
  const text = readStringField(result, "content", Infinity);
  if (!text.ok || text.value.length <= MAX_FILE_CHARACTERS) return text;
  return rejectValue(
    `it has more than ${MAX_FILE_CHARACTERS} characters; save the file, so that it is read from the disk`,
  );
}

/** Characters. Limited because the reply is stored in the log. */
const MAX_FILE_CHARACTERS = 1024 * 1024;

/** Reads the reply to a write. Any result means success, because editors return different values. */
export function readFileWrittenReply(answer: RpcResponse): HostReply<true> {
  return readDoneReply(FILE_METHODS.write, answer);
}

const TERMINAL_METHODS = {
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

export function encodeCreateTerminalRequest(
  sessionId: string,
  terminalCommand: TerminalCommand,
): HostRequest {
  const { command, args, workingDirectory: cwd, outputBytes: outputByteLimit } = terminalCommand;
  return {
    method: TERMINAL_METHODS.create,
    params: { sessionId, command, args, cwd, outputByteLimit },
  };
}

export function encodeTerminalRequest(
  operation: Exclude<keyof typeof TERMINAL_METHODS, "create">,
  sessionId: string,
  terminalId: string,
): HostRequest {
  return { method: TERMINAL_METHODS[operation], params: { sessionId, terminalId } };
}

export function readTerminalIdReply(answer: RpcResponse): HostReply<string> {
  return readHostReply(TERMINAL_METHODS.create, answer, (result) =>
    readStringField(result, "terminalId", MAX_ID_CHARACTERS),
  );
}

const MAX_ID_CHARACTERS = 1000;

export interface TerminalText {
  readonly output: string;
  readonly truncated: boolean;
}

export interface TerminalExitStatus {
  readonly code: number | null;
  readonly signal: string | null;
}

export function readTerminalOutputReply(answer: RpcResponse): HostReply<TerminalText> {
  return readHostReply(TERMINAL_METHODS.output, answer, (result) => {
    const output = readStringField(result, "output", Infinity);
    if (!output.ok) return output;
    const truncated = isObject(result) && result["truncated"] === true;
    return acceptValue({ output: output.value, truncated });
  });
}

export function readTerminalExitReply(answer: RpcResponse): HostReply<TerminalExitStatus> {
  return readHostReply(TERMINAL_METHODS.wait, answer, (result) =>
    isObject(result) ? acceptValue(readExitStatus(result)) : rejectValue("it is not an object"),
  );
}

function readExitStatus({ exitCode, signal }: JsonObject): TerminalExitStatus {
  return {
    code: typeof exitCode === "number" ? exitCode : null,
    signal: typeof signal === "string" ? signal.slice(0, MAX_SIGNAL_CHARACTERS) : null,
  };
}

const MAX_SIGNAL_CHARACTERS = 40;

function readDoneReply(operation: string, answer: RpcResponse): HostReply<true> {
  if (answer.ok) return { type: "answered", value: true };
  if (answer.error.code === RPC_CODES.methodNotFound) return { type: "unsupported" };
  return createFailedReply(operation, answer.error);
}

function readStringField(result: JsonValue, name: string, maxLength: number): ReadResult<string> {
  const text = isObject(result) ? result[name] : undefined;
  if (typeof text !== "string") return rejectValue(`it has no "${name}"`);
  return text.length <= maxLength ? acceptValue(text) : rejectValue(`its "${name}" is too long`);
}
