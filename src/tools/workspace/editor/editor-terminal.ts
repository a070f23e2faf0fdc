import { formatThrown } from "../../../domain/errors.ts";
import type { SteadyClock } from "../../../platform/clock.ts";
import type { ToolContext } from "../../tool.ts";
import { createRefusal } from "../tool-refusal.ts";
import type { WatchedProcess } from "../watch-process.ts";

export interface TerminalProgram {
  /** A program and its arguments, confined or not. */
  readonly argv: readonly string[];
  readonly environment: { readonly [name: string]: string };
  readonly workingDirectory: string;
  readonly milliseconds: number;
  readonly outputBytes: number;
}

/**
 * Runs a program in a terminal of the editor, for people to watch. Undefined where the editor has none after all, and
 * nothing was run.
 */
export async function runInTerminal(
  program: TerminalProgram,
  { editor, host, toolCallId }: Pick<ToolContext, "editor" | "host" | "toolCallId">,
  clock: SteadyClock,
): Promise<WatchedProcess | undefined> {
  const { argv, environment, workingDirectory, milliseconds, outputBytes } = program;
  // What has a = in it `env` would take for a variable.
  if (editor?.runsTerminals !== true || argv[0]?.includes("=") === true) return undefined;
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const payload = {
    toolCallId,
    command: "/usr/bin/env",
    // A terminal of the editor has all variables of the editor: none of them is the command's.
    args: ["-i", ...variables, ...argv],
    workingDirectory,
    milliseconds,
    outputBytes: 2 * outputBytes,
  };
  const start = clock.monotonic();
  const reply = await host(
    editor.clientId,
    "terminal",
    payload,
    milliseconds + REPLY_MARGIN_MS,
  ).catch((error: unknown) => {
    const why = `What came of the command is not known: the editor that ran it says ${formatThrown(error)}`;
    throw createRefusal("failed", why, error);
  });
  if (reply["unsupported"] === true) return undefined;
  const { output: rawOutput, truncated, code, signal, stopped } = reply;
  const text = typeof rawOutput === "string" ? rawOutput.replaceAll("\r\n", "\n") : "";
  const isStopped = stopped === "time";
  const end = {
    code: typeof code === "number" ? code : null,
    signal: typeof signal === "string" ? signal : null,
  };
  return {
    end: isStopped ? null : end,
    stopped: isStopped ? "time" : null,
    output: truncated === true ? `[the beginning is left out]\n${text}` : text,
    errors: "",
    outputBytes: Buffer.byteLength(text),
    errorBytes: 0,
    milliseconds: clock.monotonic() - start,
  };
}

/** For the editor to end what has reached its time, and to say what it wrote. */
const REPLY_MARGIN_MS = 8000;
