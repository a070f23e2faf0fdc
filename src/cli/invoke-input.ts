import { readFile } from "node:fs/promises";
import type { CallInput } from "../bridge/provider-for.ts";
import { SpanlineError, type ErrorCode } from "../domain/errors.ts";
import { toolError, toolSuccess } from "../domain/tool.ts";
import type { Turn } from "../domain/turn.ts";
import { capturedTurn } from "../inspect/captured-turn.ts";
import { printable } from "../inspect/style.ts";
import { openBytes } from "../platform/files.ts";
import { unreadableFile } from "./unreadable-file.ts";

export interface InputFlags {
  readonly session?: string;
  readonly answers?: string;
  readonly result?: readonly string[];
  readonly errorResult?: readonly string[];
}

/** What a command line says to the agent: a text, or the results of the calls that a kept turn left open. */
export async function inputFrom(text: string | undefined, flags: InputFlags): Promise<CallInput> {
  const { answers, session, result = [], errorResult = [] } = flags;
  if (answers === undefined) {
    if (result.length + errorResult.length > 0) {
      throw unusable("A result needs --answers FILE: what --raw kept of the call that it answers");
    }
    if (text === undefined) throw unusable("There is nothing to say: give the text");
    return { type: "prompt", texts: [text] };
  }
  if (session === undefined) {
    throw unusable("--answers needs --session: the conversation that its turn is part of");
  }
  const turn = await openTurn(answers);
  const results = await Promise.all([
    ...result.map(async (given) => toolSuccess(...(await resultFrom(given)))),
    ...errorResult.map(async (given) => toolError(...(await resultFrom(given)))),
  ]);
  return { type: "results", turn, results, ...(text !== undefined && { texts: [text] }) };
}

/** The turn that a file holds. It must be one that waits for us. */
async function openTurn(file: string): Promise<Turn> {
  const name = file === "-" ? "standard input" : printable(file);
  const turn = await readable(name, async () => {
    const { chunks } = await openBytes(file);
    return capturedTurn({ chunks, name });
  });
  const outcome = turn.end?.outcome;
  if (outcome === "action-required") return turn;
  throw unusable(`The turn in ${name} waits for no result: it is ${outcome ?? "not over"}`);
}

/** `ID=TEXT`, or `ID=@FILE` for what a file says. */
async function resultFrom(given: string): Promise<[callId: string, output: string]> {
  const at = given.indexOf("=");
  if (at <= 0) throw unusable(`The result ${given} lacks its call; write ID=TEXT or ID=@FILE`);
  const [id, output] = [given.slice(0, at), given.slice(at + 1)];
  if (!output.startsWith("@")) return [id, output];
  const file = output.slice(1);
  return [id, await readable(printable(file), () => readFile(file, "utf8"))];
}

async function readable<Value>(name: string, read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (cause) {
    const message = unreadableFile(cause, name);
    throw message === undefined ? cause : refused("unreadable_input", message, cause);
  }
}

function unusable(message: string): SpanlineError {
  return refused("invalid_option", message);
}

function refused(code: ErrorCode, message: string, cause?: unknown): SpanlineError {
  return new SpanlineError(code, message, { cause });
}
