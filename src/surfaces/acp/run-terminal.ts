import { guardCall } from "../../async/call-guard.ts";
import type { JsonObject } from "../../domain/json.ts";
import {
  createTerminalRequest,
  terminalEndAnswer,
  terminalIdAnswer,
  terminalRequest,
  terminalTextAnswer,
  type TerminalCommand,
  type TerminalText,
} from "../../wire/acp/host/editor-calls.ts";
import type { HostAnswer } from "../../wire/acp/host/host-answer.ts";
import type { HostRequest } from "../../wire/acp/host/host-request.ts";
import { internalError } from "../../wire/jsonrpc/rpc-error.ts";
import type { RpcAnswer } from "../../wire/jsonrpc/rpc-message.ts";
import type { ClientLink } from "./client-link.ts";
import { answerOf, failed, type HostAnswered, type HostPlace, type HostWork } from "./host-work.ts";

export interface TerminalRun extends TerminalCommand {
  /** How long the command may take. */
  readonly milliseconds: number;
}

export function readTerminalRun(payload: JsonObject): TerminalRun | undefined {
  const { command, args, workingDirectory, outputBytes, milliseconds } = payload;
  if (typeof command !== "string" || typeof workingDirectory !== "string") return undefined;
  if (typeof outputBytes !== "number" || typeof milliseconds !== "number") return undefined;
  const words = Array.isArray(args) ? args.map(String) : [];
  return { command, args: words, workingDirectory, outputBytes, milliseconds };
}

/** Runs a command in a terminal of the client. `shown` is told when there is one. */
export function runTerminal(
  run: TerminalRun,
  { answered, ...place }: HostPlace,
  shown: (terminalId: string) => void,
): HostWork {
  const stopping = new AbortController();
  const { signal } = stopping;
  perform(run, { ...place, shown, signal })
    .then((given) => (signal.aborted ? undefined : answered(given)))
    .catch((error: unknown) => {
      place.link.log("what came of a terminal was lost", { error: String(error) });
    });
  return { stop: () => stopping.abort() };
}

interface TerminalPlace extends Omit<HostPlace, "answered"> {
  readonly shown: (terminalId: string) => void;
  /** Nobody waits for it any more. */
  readonly signal: AbortSignal;
}

/** Made, waited for, read, and let go whatever comes in between. */
async function perform(run: TerminalRun, place: TerminalPlace): Promise<HostAnswered> {
  const { sessionId, link, shown, signal } = place;
  // Not taken back: there may be a terminal by then, and somebody has to end it.
  const made = terminalIdAnswer((await ask(link, createTerminalRequest(sessionId, run))) ?? LATE);
  if (made.type !== "answered") return answerOf(made, () => ({}));
  const terminalId = made.value;
  try {
    if (!signal.aborted) shown(terminalId);
    return await ended(run, terminalId, place);
  } finally {
    void ask(link, terminalRequest("release", sessionId, terminalId));
  }
}

async function ended(
  run: TerminalRun,
  terminalId: string,
  { sessionId, link, signal }: TerminalPlace,
): Promise<HostAnswered> {
  const about = (what: "wait" | "kill" | "output"): HostRequest =>
    terminalRequest(what, sessionId, terminalId);
  const { milliseconds } = run;
  const over = signal.aborted
    ? undefined
    : await askWithin(link, about("wait"), { milliseconds, signal });
  const status = over && terminalEndAnswer(over);
  if (status?.type !== "answered") {
    // Waited for: some clients begin what comes next before they have done it. Whoever stops it does not.
    await askWithin(link, about("kill"), { milliseconds: PATIENCE_MS, signal: NEVER });
  }
  if (signal.aborted) return failed("It was stopped");
  if (status !== undefined && status.type !== "answered") return endOf(status, () => ({}));
  const read = await askWithin(link, about("output"), { milliseconds: PATIENCE_MS, signal });
  const end = status === undefined ? { stopped: "time" } : { ...status.value };
  return endOf(terminalTextAnswer(read ?? LATE), (text) => ({ ...cut(text, run), ...end }));
}

/** The command was run: what a client with a terminal does not know how to say is not found out by running it again. */
function endOf<Value>(
  answer: HostAnswer<Value>,
  payloadOf: (value: Value) => JsonObject,
): HostAnswered {
  if (answer.type === "unsupported") return failed("it has the terminal, and cannot tell its end");
  return answerOf(answer, payloadOf);
}

const NEVER = new AbortController().signal;

/** For a client to end a command, and to say what it wrote. */
const PATIENCE_MS = 3000;

/** Clients keep to the limit as they count it; what is more is left out here. */
function cut({ output, truncated }: TerminalText, { outputBytes }: TerminalRun): JsonObject {
  const isLong = output.length > outputBytes;
  return {
    output: isLong ? output.slice(-outputBytes) : output,
    truncated: truncated || isLong,
  };
}

interface Limits {
  readonly milliseconds: number;
  readonly signal: AbortSignal;
}

/** Undefined where there is no answer in time, or none is wanted any more: then it is taken back. */
async function askWithin(
  link: ClientLink,
  request: HostRequest,
  { milliseconds, signal }: Limits,
): Promise<RpcAnswer | undefined> {
  const guard = guardCall(link.clock, signal, { limit: "run", milliseconds });
  try {
    return await ask(link, request, guard.signal);
  } finally {
    guard.release();
  }
}

function ask(
  link: ClientLink,
  request: HostRequest,
  signal?: AbortSignal,
): Promise<RpcAnswer | undefined> {
  return new Promise((resolve) => {
    const questionId = link.request(request, async (answer) => resolve(answer));
    if (questionId === undefined) return resolve(TOO_MUCH);
    const takeBack = (): void => {
      link.withdraw(questionId);
      resolve(undefined);
    };
    if (signal?.aborted === true) takeBack();
    signal?.addEventListener("abort", takeBack, { once: true });
  });
}

const TOO_MUCH: RpcAnswer = {
  ok: false,
  error: internalError("too much is asked of this client at once"),
};
const LATE: RpcAnswer = { ok: false, error: internalError("it does not answer") };
