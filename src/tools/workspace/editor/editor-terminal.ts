import { formatThrown } from "../../../domain/errors.ts";
import type { SteadyClock } from "../../../platform/clock.ts";
import type { ToolContext } from "../../tool.ts";
import { createRefusal } from "../tool-refusal.ts";
import type { WatchedProcess } from "../watch-process.ts";

export interface TerminalProgram {
  /** A program and its arguments, already wrapped in the sandbox if there is one. */
  readonly argv: readonly string[];
  readonly environment: { readonly [name: string]: string };
  readonly workingDirectory: string;
  readonly milliseconds: number;
  readonly outputBytes: number;
}

/**
 * Runs a program in a visible terminal of the editor. Undefined if the editor turns out to have no terminals; the
 * program has not run in this case.
 */
export async function runInTerminal(
  program: TerminalProgram,
  { editor, host, toolCallId }: Pick<ToolContext, "editor" | "host" | "toolCallId">,
  clock: SteadyClock,
): Promise<WatchedProcess | undefined> {
  const { argv, environment, workingDirectory, milliseconds, outputBytes } = program;
  // `env` would parse a program name with `=` as a variable.
  if (editor?.runsTerminals !== true || argv[0]?.includes("=") === true) return undefined;
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const payload = {
    toolCallId,
    command: "/usr/bin/env",
    // `-i` clears the editor's variables, which must not reach the command.
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
    const why = `The outcome of the command is unknown: the editor failed with ${formatThrown(error)}`;
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
    output: truncated === true ? `[the beginning was omitted]\n${text}` : text,
    errors: "",
    outputBytes: Buffer.byteLength(text),
    errorBytes: 0,
    milliseconds: clock.monotonic() - start,
  };
}

/** Time for the editor to stop an expired command and to return its output. */
const REPLY_MARGIN_MS = 8000;
