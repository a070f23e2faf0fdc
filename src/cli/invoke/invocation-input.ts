import { resolve } from "node:path";
import { readFile } from "node:fs/promises";
import type { InvocationInput } from "../../bridge/agent/agentcore-provider.ts";
import { SpanlineError, type ErrorCode } from "../../domain/errors.ts";
import { createToolError, createToolSuccess } from "../../domain/tools/tool-call.ts";
import type { Turn } from "../../domain/provider/turn.ts";
import { readCapturedTurn } from "../../inspect/captured-turn.ts";
import { escapeControls } from "../../inspect/trace-style.ts";
import { openByteSource } from "../../platform/files/byte-source.ts";
import { describeReadError } from "../shared/read-error.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";

export interface InputFlags {
  readonly session?: string;
  readonly answers?: string;
  readonly result?: readonly string[];
  readonly errorResult?: readonly string[];
}

/** Reads the input of an invocation: a prompt, or the results of the tool calls that a saved turn left open. */
export async function readInvocationInput(
  text: string | undefined,
  flags: InputFlags,
  io: CommandIo,
): Promise<InvocationInput> {
  const { answers, session, result = [], errorResult = [] } = flags;
  if (answers === undefined) {
    if (result.length + errorResult.length > 0) {
      throw createOptionError(
        "A result needs --answers FILE: the response with the tool call, saved with --raw",
      );
    }
    if (text === undefined) throw createOptionError("The prompt is missing. Fix: add the text");
    return { type: "prompt", texts: [text] };
  }
  if (session === undefined) {
    throw createOptionError("--answers needs --session: the session of the saved turn");
  }
  const turn = await readOpenTurn(answers, io);
  const results = await Promise.all([
    ...result.map(async (argument) => createToolSuccess(...(await parseResult(argument, io)))),
    ...errorResult.map(async (argument) => createToolError(...(await parseResult(argument, io)))),
  ]);
  return { type: "results", turn, results, ...(text !== undefined && { texts: [text] }) };
}

/** Reads the turn in a file. Throws `invalid_option` unless the turn waits for tool results. */
async function readOpenTurn(file: string, io: CommandIo): Promise<Turn> {
  const name = file === "-" ? "standard input" : escapeControls(file);
  const turn = await readOrRefuse(name, async () => {
    const { chunks } = await openByteSource(file, io);
    return readCapturedTurn({ chunks, name });
  });
  const outcome = turn.end?.outcome;
  if (outcome === "action-required") return turn;
  throw createOptionError(
    `The turn in ${name} does not wait for a result: its outcome is ${outcome ?? "not known yet"}`,
  );
}

/** Parses `ID=TEXT`, or `ID=@FILE` for the contents of a file. */
async function parseResult(
  argument: string,
  { cwd }: CommandIo,
): Promise<[callId: string, output: string]> {
  const at = argument.indexOf("=");
  if (at <= 0)
    throw createOptionError(
      `The result ${argument} has no tool call id: expected ID=TEXT or ID=@FILE`,
    );
  const [id, output] = [argument.slice(0, at), argument.slice(at + 1)];
  if (!output.startsWith("@")) return [id, output];
  const file = output.slice(1);
  return [id, await readOrRefuse(escapeControls(file), () => readFile(resolve(cwd, file), "utf8"))];
}

async function readOrRefuse<Value>(name: string, read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (cause) {
    const message = describeReadError(cause, name);
    throw message === undefined ? cause : createInputError("unreadable_input", message, cause);
  }
}

function createOptionError(message: string): SpanlineError {
  return createInputError("invalid_option", message);
}

function createInputError(code: ErrorCode, message: string, cause?: unknown): SpanlineError {
  return new SpanlineError(code, message, { cause });
}
