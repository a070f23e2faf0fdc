import { closeSync, fstatSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { providerFor } from "../bridge/provider-for.ts";
import type { Codec } from "../domain/codec.ts";
import { SpanlineError } from "../domain/errors.ts";
import { AbortError } from "../domain/provider-error.ts";
import type { ProviderEvent } from "../domain/provider-event.ts";
import { liveEncoder, type LiveText } from "../inspect/live.ts";
import { outputEncoder } from "../inspect/output-encoder.ts";
import type { OutputFormat } from "../inspect/output-format.ts";
import { PLAIN } from "../inspect/style.ts";
import { processTerminal, type Terminal } from "../platform/terminal.ts";
import { complaint } from "./complaint.ts";
import { connectionFrom, type ConnectionFlags } from "./connection.ts";
import { coloured } from "./style.ts";

export interface InvokeFlags extends ConnectionFlags {
  readonly harness?: string;
  readonly runtime?: string;
  readonly qualifier?: string;
  readonly session?: string;
  readonly user?: string;
  readonly systemPrompt?: string;
  readonly model?: string;
  readonly maxIterations?: number;
  readonly maxTokens?: number;
  readonly timeoutSeconds?: number;
  readonly firstEventTimeout?: number;
  readonly idleTimeout?: number;
  readonly timeout?: number;
  readonly format: OutputFormat;
  readonly json?: true;
  readonly raw?: string;
}

/** Makes one invocation and returns the exit code: 0 unless the turn failed. */
export async function invokeCommand(text: string, flags: InvokeFlags): Promise<number> {
  const terminal = processTerminal();
  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  process.once("SIGINT", interrupt);
  let raw: RawFile | undefined;
  const keepRaw = (): RawFile["write"] | undefined => {
    raw = flags.raw === undefined ? undefined : rawFile(flags.raw);
    return raw?.write;
  };
  try {
    return await invoke(text, flags, { terminal, signal: stop.signal, keepRaw });
  } catch (error) {
    if (error instanceof AbortError) {
      terminal.note("\nStopped. The agent may go on with what it was doing.\n");
      return 130;
    }
    terminal.note(`${complaint(error, ({ code }) => NEXT_STEPS.get(code))}\n`);
    return error instanceof SpanlineError && UNUSABLE.has(error.code) ? 2 : 1;
  } finally {
    raw?.close();
    process.off("SIGINT", interrupt);
  }
}

interface Surroundings {
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  readonly keepRaw: () => ((chunk: Uint8Array) => void) | undefined;
}

async function invoke(
  text: string,
  flags: InvokeFlags,
  { terminal, signal, keepRaw }: Surroundings,
): Promise<number> {
  const { harness, runtime, qualifier, user, session: sessionId } = flags;
  const provider = providerFor({
    ...connectionFrom(flags, process.env),
    overrides: overridesFrom(flags),
    limits: limitsFrom(flags),
    ...(harness !== undefined && { harness }),
    ...(runtime !== undefined && { runtime }),
    ...(qualifier !== undefined && { qualifier }),
    ...(user !== undefined && { userId: user }),
  });
  const session = provider.open(sessionId === undefined ? {} : { sessionId });
  const tap = keepRaw();
  // Whoever wants to go on with it needs to know it, whatever the format is.
  if (sessionId === undefined) terminal.note(`session ${session.id}\n`);
  const call = await session.call(
    { type: "prompt", texts: [text] },
    { signal, ...(tap !== undefined && { tap }) },
  );
  const encoder = encoderFor(flags, terminal);
  const state = encoder.initial();
  let pending: LiveText[] = [];
  let outcome = "";
  for await (const event of call) {
    encoder.step(state, event, (piece) => pending.push(piece));
    if (event.type === "end") outcome = event.outcome;
    if (!(await written(pending, terminal))) return 0;
    pending = [];
  }
  encoder.finish(state, (piece) => pending.push(piece));
  await written(pending, terminal);
  return outcome === "failed" ? 1 : 0;
}

function overridesFrom({ systemPrompt, model, ...flags }: InvokeFlags) {
  const { maxIterations, maxTokens, timeoutSeconds } = flags;
  return {
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(model !== undefined && { model }),
    ...(maxIterations !== undefined && { maxIterations }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
  };
}

function limitsFrom({ firstEventTimeout, idleTimeout, timeout }: InvokeFlags) {
  return {
    ...(firstEventTimeout !== undefined && { firstEvent: firstEventTimeout * 1000 }),
    ...(idleTimeout !== undefined && { idle: idleTimeout * 1000 }),
    ...(timeout !== undefined && { total: timeout * 1000 }),
  };
}

function encoderFor(
  { json, format }: InvokeFlags,
  terminal: Terminal,
): Codec<unknown, ProviderEvent, LiveText> {
  const style = terminal.colours ? coloured() : PLAIN;
  if (json !== true && format === "text") {
    return liveEncoder({ style, toTerminal: terminal.isWatched });
  }
  const inner = outputEncoder(json === true ? "events" : format, PLAIN);
  return {
    initial: () => inner.initial(),
    step: (state, event, emit) => inner.step(state, event, (text) => emit({ to: "result", text })),
    finish: (state, emit) => inner.finish(state, (text) => emit({ to: "result", text })),
  };
}

/** False when nobody reads the result any more. */
async function written(pieces: readonly LiveText[], terminal: Terminal): Promise<boolean> {
  for (const { to, text } of pieces) {
    if (to === "notes") terminal.note(text);
    else if (!(await terminal.write(text))) return false;
  }
  return true;
}

interface RawFile {
  readonly write: (chunk: Uint8Array) => void;
  close(): void;
}

/** Opened before the call is made: an answer that cannot be kept is not asked for. */
function opened(path: string): number {
  try {
    return openSync(path, "a");
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    const reason = code === "ENOENT" ? "there is no such folder" : String(code);
    throw new SpanlineError("invalid_option", `Cannot write ${path}: ${reason}`, { cause });
  }
}

/** The bytes of the answer as they come: what is there when the process dies is there. */
function rawFile(path: string): RawFile {
  const file = opened(path);
  let isEmptied = false;
  return {
    write(chunk) {
      // Not before there is something to keep: what was kept there until now may be wanted.
      if (!isEmptied && fstatSync(file).isFile()) ftruncateSync(file);
      isEmptied = true;
      for (let at = 0; at < chunk.length;) at += writeSync(file, chunk, at);
    },
    close: () => closeSync(file),
  };
}

/** What the command line is to blame for. */
const UNUSABLE: ReadonlySet<string> = new Set(["invalid_option", "invalid_message"]);

const NEXT_STEPS: ReadonlyMap<string, string> = new Map([
  ["connect_failed", "Check the address; `spanline emulate` starts an emulator on this machine."],
  ["access_denied", "Check the credentials, the region of the ARN and this machine's clock."],
  ["not_found", "Check the ARN and --qualifier; `spanline harness list` shows what there is."],
  ["throttled", "Wait a little and try again."],
  ["connection_lost", "The agent may have done its work; look before you call it again."],
  ["first_event_timeout", "Raise --first-event-timeout if the agent needs longer to start."],
]);
