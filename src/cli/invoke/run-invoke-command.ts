import { resolve } from "node:path";
import { closeSync, fstatSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { createAgentCoreProvider } from "../../bridge/agent/agentcore-provider.ts";
import type { Codec } from "../../domain/codec.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { AbortError } from "../../domain/provider/provider-error.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import { createLiveEncoder, type LiveText } from "../../inspect/live-encoder.ts";
import { createOutputEncoder } from "../../inspect/output-encoder.ts";
import type { OutputFormat } from "../../inspect/output-format.ts";
import { PLAIN_STYLE } from "../../inspect/trace-style.ts";
import { randomString } from "../../platform/random.ts";
import { createTerminal, type Terminal } from "../../platform/terminal/terminal.ts";
import { formatErrorMessage } from "../shared/error-message.ts";
import { resolveAgentReference, type AgentFlags } from "../shared/flags/agent-reference.ts";
import { resolveConnection } from "../shared/flags/connection-flags.ts";
import { findFlag } from "../shared/flags/find-flag.ts";
import { readInvocationLimits, type LimitFlags } from "../shared/flags/limit-flags.ts";
import { createColorStyle } from "../shared/terminal/color-style.ts";
import { readInvocationInput, type InputFlags } from "./invocation-input.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface InvokeFlags extends AgentFlags, InputFlags, LimitFlags {
  readonly user?: string;
  readonly systemPrompt?: string;
  readonly model?: string;
  readonly maxIterations?: number;
  readonly maxTokens?: number;
  readonly timeoutSeconds?: number;
  readonly format: OutputFormat;
  readonly json?: true;
  readonly raw?: string;
}

/** Makes a single invocation. Returns the exit code: 0 unless the turn failed. */
export async function runInvokeCommand(
  text: string | undefined,
  flags: InvokeFlags,
  io: CommandIo,
): Promise<number> {
  const terminal = createTerminal(io);
  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  io.signals.on("SIGINT", interrupt);
  let raw: RawFile | undefined;
  const openRawWriter = (): RawFile["write"] | undefined => {
    raw = flags.raw === undefined ? undefined : openRawFile(flags.raw, io.cwd);
    return raw?.write;
  };
  try {
    return await invoke(text, flags, { io, terminal, signal: stop.signal, openRawWriter });
  } catch (error) {
    if (error instanceof AbortError) {
      const outcomeNote = error.wasSent ? "The agent may continue its work" : "Nothing was sent";
      terminal.note(`\nStopped. ${outcomeNote}.\n`);
      return 130;
    }
    terminal.note(
      `${formatErrorMessage(error, { nextStep: suggestNextStep, findFlag: (path) => findFlag(path, flags) })}\n`,
    );
    return error instanceof SpanlineError && USAGE_ERROR_CODES.has(error.code) ? 2 : 1;
  } finally {
    raw?.close();
    io.signals.off("SIGINT", interrupt);
  }
}

interface InvokeContext {
  readonly io: CommandIo;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  readonly openRawWriter: () => ((chunk: Uint8Array) => void) | undefined;
}

async function invoke(
  text: string | undefined,
  flags: InvokeFlags,
  { io, terminal, signal, openRawWriter }: InvokeContext,
): Promise<number> {
  const input = await readInvocationInput(text, flags, io);
  const agent = await resolveAgentReference(flags, { io, terminal, signal });
  const { user, session: sessionId } = flags;
  const provider = createAgentCoreProvider({
    ...resolveConnection(flags, io.env),
    ...agent,
    overrides: readOverrides(flags),
    limits: readInvocationLimits(flags),
    ...omitUndefined({ userId: user }),
  });
  const session = provider.open(sessionId === undefined ? {} : { sessionId });
  const tap = openRawWriter();
  // The session id is needed to continue the conversation in every output format.
  if (sessionId === undefined) terminal.note(`session ${session.id}\n`);
  const call = await session.invoke(input, { signal, ...omitUndefined({ tap }) });
  // The service's request id is unique, so it identifies the turn.
  const scope = call.requestId ?? `${session.id}-${randomString(6)}`;
  const encoder = createEncoder(flags, { terminal, scope });
  const state = encoder.initial();
  let pending: LiveText[] = [];
  let outcome = "";
  for await (const event of call) {
    encoder.step(state, event, (piece) => pending.push(piece));
    if (event.type === "end") outcome = event.outcome;
    if (!(await writePieces(pending, terminal))) return 0;
    pending = [];
  }
  encoder.finish(state, (piece) => pending.push(piece));
  await writePieces(pending, terminal);
  if (outcome === "action-required" && isHumanOutput(flags)) {
    terminal.note(formatAnswerHint(session.id, flags));
  }
  return outcome === "failed" ? 1 : 0;
}

function isHumanOutput({ json, format }: InvokeFlags): boolean {
  return json !== true && format === "text";
}

function formatAnswerHint(sessionId: string, { raw }: InvokeFlags): string {
  const rawHint = raw === undefined ? "; FILE is a response saved with --raw FILE" : "";
  return `answer with --session ${sessionId} --answers ${raw ?? "FILE"} --result ID=TEXT${rawHint}\n`;
}

function readOverrides({ systemPrompt, model, ...flags }: InvokeFlags) {
  const { maxIterations, maxTokens, timeoutSeconds } = flags;
  return omitUndefined({ systemPrompt, model, maxIterations, maxTokens, timeoutSeconds });
}

function createEncoder(
  flags: InvokeFlags,
  { terminal, scope }: { readonly terminal: Terminal; readonly scope: string },
): Codec<unknown, ProviderEvent, LiveText> {
  const style = terminal.hasColours ? createColorStyle() : PLAIN_STYLE;
  if (isHumanOutput(flags)) {
    return createLiveEncoder({ style, isTerminal: terminal.isInteractive });
  }
  const { json, format } = flags;
  const inner = createOutputEncoder(json === true ? "events" : format, {
    style: PLAIN_STYLE,
    scope,
  });
  return {
    initial: () => inner.initial(),
    step: (state, event, emit) =>
      inner.step(state, event, (text) => emit({ target: "result", text })),
    finish: (state, emit) => inner.finish(state, (text) => emit({ target: "result", text })),
  };
}

/** Returns false if the reader of the result closed the pipe. */
async function writePieces(pieces: readonly LiveText[], terminal: Terminal): Promise<boolean> {
  for (const { target, text } of pieces) {
    if (target === "notes") terminal.note(text);
    else if (!(await terminal.write(text))) return false;
  }
  return true;
}

/** Errors caused by the command line or a file: exit code 2. */
const USAGE_ERROR_CODES: ReadonlySet<string> = new Set([
  "invalid_option",
  "invalid_message",
  "invalid_tool",
  "resume_mismatch",
  "unknown_tag",
  "unreadable_input",
]);

function suggestNextStep({ code, details }: SpanlineError): string | undefined {
  if (code === "not_found" && details["reference"] !== undefined) {
    return "Fix: list the harnesses with `spanline harness list`, or set --region.";
  }
  return NEXT_STEPS.get(code);
}

const NEXT_STEPS: ReadonlyMap<string, string> = new Map([
  [
    "connect_failed",
    "Fix: check the address; `spanline emulate` starts an emulator on this machine.",
  ],
  [
    "no_credentials",
    "Fix: configure AWS credentials, or use an emulator with `spanline emulate` and --endpoint-url.",
  ],
  ["access_denied", "Fix: check the credentials, the region of the ARN and this machine's clock."],
  ["not_found", "Fix: check the ARN and --qualifier; `spanline harness list` lists the harnesses."],
  ["throttled", "Fix: wait a moment and try again."],
  [
    "connection_lost",
    "The agent may have completed its work. Fix: check before you repeat the invocation.",
  ],
  ["first_event_timeout", "Fix: raise --first-event-timeout if the agent needs longer to start."],
  [
    "resume_mismatch",
    "Fix: add one --result ID=TEXT or --error-result ID=TEXT for each open tool call.",
  ],
  [
    "unknown_tag",
    "Fix: check --store, the file with the tags; `spanline harness create --tag` creates one.",
  ],
]);

interface RawFile {
  readonly write: (chunk: Uint8Array) => void;
  close(): void;
}

/** Writes the bytes of the response as they arrive, so a crash loses no received bytes. */
function openRawFile(path: string, cwd: string): RawFile {
  const file = openForWriting(path, cwd);
  let isEmptied = false;
  return {
    write(chunk) {
      // The file is truncated at the first byte, not at the start: if the invocation fails, its old contents stay.
      if (!isEmptied && fstatSync(file).isFile()) ftruncateSync(file);
      isEmptied = true;
      for (let at = 0; at < chunk.length;) at += writeSync(file, chunk, at);
    },
    close: () => closeSync(file),
  };
}

/** Opened before the invocation: no request is sent if the response cannot be saved. */
function openForWriting(path: string, cwd: string): number {
  try {
    return openSync(resolve(cwd, path), "a");
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    const reason = code === "ENOENT" ? "no such folder" : String(code);
    throw new SpanlineError("invalid_option", `Cannot write ${path}: ${reason}`, { cause });
  }
}
