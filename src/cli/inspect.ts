import { SpanlineError } from "../domain/errors.ts";
import type { CaptureFormat } from "../inspect/capture-format.ts";
import { inspect } from "../inspect/inspect.ts";
import type { OutputFormat } from "../inspect/output-format.ts";
import { PLAIN, printable } from "../inspect/style.ts";
import { openBytes, type ByteSource } from "../platform/files.ts";
import { processTerminal, type Terminal } from "../platform/terminal.ts";
import { coloured } from "./style.ts";
import { unreadableFile } from "./unreadable-file.ts";

export interface InspectFlags {
  readonly format: OutputFormat;
  readonly json?: true;
  readonly as?: CaptureFormat;
}

/** Returns the exit code. */
export async function inspectCommand(file: string, flags: InspectFlags): Promise<number> {
  const terminal = processTerminal();
  const interrupt = (): void => {
    terminal.progress("");
    process.exit(INTERRUPTED);
  };
  process.once("SIGINT", interrupt);
  const name = file === "-" ? "standard input" : printable(file);
  try {
    const source = await openBytes(file);
    await inspect({
      chunks: watched(source, name, terminal),
      name,
      output: flags.json === true ? "json" : flags.format,
      style: terminal.colours ? coloured() : PLAIN,
      write: (text) => terminal.write(text),
      ...(flags.as !== undefined && { capture: flags.as }),
    });
    return 0;
  } catch (error) {
    terminal.progress("");
    terminal.note(`${complaint(error, name)}\n`);
    return isReadError(error) ? 2 : 1;
  } finally {
    process.off("SIGINT", interrupt);
  }
}

/** As a shell counts it: 128 and the number of the signal. */
const INTERRUPTED = 130;

function complaint(error: unknown, name: string): string {
  if (error instanceof SpanlineError) return error.message;
  const reason = unreadableFile(error, name);
  if (reason !== undefined) return reason;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (error instanceof Error && isWriteError(error)) return `Cannot write: ${error.message}`;
  if (error instanceof Error && code !== undefined) return `Cannot read ${name}: ${error.message}`;
  return `Cannot show ${name}: ${error instanceof Error ? error.message : String(error)}`;
}

/** What the input is to blame for; anything else is ours or the output's. */
function isReadError(error: unknown): boolean {
  if (error instanceof SpanlineError) return true;
  return error instanceof Error && "code" in error && !isWriteError(error);
}

function isWriteError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && error.syscall === "write";
}

/** Reading less than this is over before anybody wonders. */
const WORTH_SHOWING = 8 * 1024 * 1024;

async function* watched(
  source: ByteSource,
  name: string,
  terminal: Terminal,
): AsyncGenerator<Uint8Array> {
  let read = 0;
  let shown = "";
  try {
    for await (const chunk of source.chunks) {
      yield chunk;
      read += chunk.length;
      if (read < WORTH_SHOWING && (source.size ?? 0) < WORTH_SHOWING) continue;
      const share = source.size === null ? "" : ` (${Math.floor((100 * read) / source.size)} %)`;
      const line = `Reading ${name}: ${Math.floor(read / 1024 / 1024)} MB${share}`;
      if (line !== shown) terminal.progress((shown = line));
    }
  } finally {
    terminal.progress("");
  }
}
