import { providerFor } from "../bridge/provider-for.ts";
import type { Codec } from "../domain/codec.ts";
import { SpanlineError } from "../domain/errors.ts";
import { AbortError } from "../domain/provider-error.ts";
import type { ProviderEvent } from "../domain/provider-event.ts";
import { liveEncoder, type LiveText } from "../inspect/live.ts";
import { outputEncoder } from "../inspect/output-encoder.ts";
import type { OutputFormat } from "../inspect/output-format.ts";
import { PLAIN } from "../inspect/style.ts";
import { randomText } from "../platform/random.ts";
import { processTerminal, type Terminal } from "../platform/terminal.ts";
import { agentFrom, type AgentFlags } from "./agent-from.ts";
import { complaint } from "./complaint.ts";
import { connectionFrom } from "./connection.ts";
import { flagFor } from "./flag-for.ts";
import { inputFrom, type InputFlags } from "./invoke-input.ts";
import { limitsFrom, type LimitFlags } from "./limits-from.ts";
import { rawFile, type RawFile } from "./raw-file.ts";
import { coloured } from "./style.ts";

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

/** Makes one invocation and returns the exit code: 0 unless the turn failed. */
export async function invokeCommand(text: string | undefined, flags: InvokeFlags): Promise<number> {
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
      const rest = error.sent ? "The agent may go on with what it was doing" : "Nothing was sent";
      terminal.note(`\nStopped. ${rest}.\n`);
      return 130;
    }
    terminal.note(`${complaint(error, { nextStep, flagFor: (path) => flagFor(path, flags) })}\n`);
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
  text: string | undefined,
  flags: InvokeFlags,
  { terminal, signal, keepRaw }: Surroundings,
): Promise<number> {
  const input = await inputFrom(text, flags);
  const agent = await agentFrom(flags, { terminal, signal });
  const { user, session: sessionId } = flags;
  const provider = providerFor({
    ...connectionFrom(flags, process.env),
    ...agent,
    overrides: overridesFrom(flags),
    limits: limitsFrom(flags),
    ...(user !== undefined && { userId: user }),
  });
  const session = provider.open(sessionId === undefined ? {} : { sessionId });
  const tap = keepRaw();
  // Whoever wants to go on with it needs to know it, whatever the format is.
  if (sessionId === undefined) terminal.note(`session ${session.id}\n`);
  const call = await session.call(input, { signal, ...(tap !== undefined && { tap }) });
  // The service's id of the call names its turn; no other turn has it.
  const scope = call.requestId ?? `${session.id}-${randomText(6)}`;
  const encoder = encoderFor(flags, { terminal, scope });
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
  if (outcome === "action-required" && isForPeople(flags)) {
    terminal.note(howToAnswer(session.id, flags));
  }
  return outcome === "failed" ? 1 : 0;
}

function isForPeople({ json, format }: InvokeFlags): boolean {
  return json !== true && format === "text";
}

function howToAnswer(sessionId: string, { raw }: InvokeFlags): string {
  const kept = raw === undefined ? "; FILE is what --raw FILE keeps of a call" : "";
  return `answer with --session ${sessionId} --answers ${raw ?? "FILE"} --result ID=TEXT${kept}\n`;
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

function encoderFor(
  flags: InvokeFlags,
  { terminal, scope }: { readonly terminal: Terminal; readonly scope: string },
): Codec<unknown, ProviderEvent, LiveText> {
  const style = terminal.colours ? coloured() : PLAIN;
  if (isForPeople(flags)) {
    return liveEncoder({ style, toTerminal: terminal.isWatched });
  }
  const { json, format } = flags;
  const inner = outputEncoder(json === true ? "events" : format, { style: PLAIN, scope });
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

/** What the command line or a file is to blame for. */
const UNUSABLE: ReadonlySet<string> = new Set([
  "invalid_option",
  "invalid_message",
  "invalid_tool",
  "resume_mismatch",
  "unknown_tag",
  "unreadable_input",
]);

function nextStep({ code, details }: SpanlineError): string | undefined {
  if (code === "not_found" && details["reference"] !== undefined) {
    return "`spanline harness list` shows what there is; --region says where to look.";
  }
  return NEXT_STEPS.get(code);
}

const NEXT_STEPS: ReadonlyMap<string, string> = new Map([
  ["connect_failed", "Check the address; `spanline emulate` starts an emulator on this machine."],
  ["no_credentials", "Without an account, `spanline emulate` and --endpoint-url do."],
  ["access_denied", "Check the credentials, the region of the ARN and this machine's clock."],
  ["not_found", "Check the ARN and --qualifier; `spanline harness list` shows what there is."],
  ["throttled", "Wait a little and try again."],
  ["connection_lost", "The agent may have done its work; look before you call it again."],
  ["first_event_timeout", "Raise --first-event-timeout if the agent needs longer to start."],
  ["resume_mismatch", "Give one --result ID=TEXT or --error-result ID=TEXT for each open call."],
  [
    "unknown_tag",
    "Tags are kept in the file of --store; `spanline harness create --tag` gives one.",
  ],
]);
