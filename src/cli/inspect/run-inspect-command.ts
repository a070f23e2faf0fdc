import { SpanlineError } from "../../domain/errors.ts";
import type { CaptureFormat } from "../../inspect/capture-format.ts";
import { inspectCapture } from "../../inspect/inspect-capture.ts";
import type { OutputFormat } from "../../inspect/output-format.ts";
import { PLAIN_STYLE, escapeControls } from "../../inspect/trace-style.ts";
import { openByteSource, type ByteSource } from "../../platform/files/byte-source.ts";
import { createTerminal, type Terminal } from "../../platform/terminal/terminal.ts";
import { createColorStyle } from "../shared/terminal/color-style.ts";
import { describeReadError } from "../shared/read-error.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface InspectFlags {
  readonly format: OutputFormat;
  readonly json?: true;
  readonly as?: CaptureFormat;
}

/** Prints a capture as a trace. Returns the exit code. */
export async function runInspectCommand(
  file: string,
  flags: InspectFlags,
  io: CommandIo,
): Promise<number> {
  const terminal = createTerminal(io);
  const interrupt = (): void => {
    terminal.showProgress("");
    io.exit(INTERRUPTED);
  };
  io.signals.on("SIGINT", interrupt);
  const name = file === "-" ? "standard input" : escapeControls(file);
  try {
    const source = await openByteSource(file, io);
    await inspectCapture({
      chunks: reportProgress(source, name, terminal),
      name,
      output: flags.json === true ? "json" : flags.format,
      style: terminal.hasColours ? createColorStyle() : PLAIN_STYLE,
      write: (text) => terminal.write(text),
      ...omitUndefined({ capture: flags.as }),
    });
    return 0;
  } catch (error) {
    terminal.showProgress("");
    terminal.note(`${formatInspectError(error, name)}\n`);
    return isReadError(error) ? 2 : 1;
  } finally {
    io.signals.off("SIGINT", interrupt);
  }
}

/** Exit code of shells for SIGINT: 128 plus the number of the signal. */
const INTERRUPTED = 130;

function formatInspectError(error: unknown, name: string): string {
  if (error instanceof SpanlineError) return error.message;
  const reason = describeReadError(error, name);
  if (reason !== undefined) return reason;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (error instanceof Error && isWriteError(error)) return `Cannot write: ${error.message}`;
  if (error instanceof Error && code !== undefined) return `Cannot read ${name}: ${error.message}`;
  return `Cannot show ${name}: ${error instanceof Error ? error.message : String(error)}`;
}

/** True if the input caused the error. Other errors come from Spanline or from the output. */
function isReadError(error: unknown): boolean {
  if (error instanceof SpanlineError) return true;
  return error instanceof Error && "code" in error && !isWriteError(error);
}

function isWriteError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && error.syscall === "write";
}

/** Bytes. Smaller captures are read before progress would be useful. */
const PROGRESS_MIN_BYTES = 8 * 1024 * 1024;

async function* reportProgress(
  source: ByteSource,
  name: string,
  terminal: Terminal,
): AsyncGenerator<Uint8Array> {
  let read = 0;
  let shownText = "";
  try {
    for await (const chunk of source.chunks) {
      yield chunk;
      read += chunk.length;
      if (read < PROGRESS_MIN_BYTES && (source.size ?? 0) < PROGRESS_MIN_BYTES) continue;
      const share = source.size === null ? "" : ` (${Math.floor((100 * read) / source.size)} %)`;
      const line = `Reading ${name}: ${Math.floor(read / 1024 / 1024)} MB${share}`;
      if (line !== shownText) terminal.showProgress((shownText = line));
    }
  } finally {
    terminal.showProgress("");
  }
}
