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
  const { shown, signal } = place;
  const made = terminalIdAnswer((await created(run, place)) ?? LATE);
  if (made.type !== "answered") return answerOf(made, () => ({}));
  const terminalId = made.value;
  try {
    if (!signal.aborted) shown(terminalId);
    return await ended(run, terminalId, place);
  } finally {
    void letGo(terminalId, place);
  }
}

/** Whoever stops the command waits on: there may be a terminal by then, and somebody has to end it. */
function created(run: TerminalRun, place: TerminalPlace): Promise<RpcAnswer | undefined> {
  const { sessionId, link } = place;
  const limits = { milliseconds: CREATION_MS, signal: link.gone };
  return askWithin(link, createTerminalRequest(sessionId, run), limits, async (answer) => {
    const made = terminalIdAnswer(answer);
    if (made.type !== "answered") return;
    await askWithin(link, terminalRequest("kill", sessionId, made.value), PATIENCE);
    await letGo(made.value, place);
  });
}

async function letGo(terminalId: string, { sessionId, link }: TerminalPlace): Promise<void> {
  await askWithin(link, terminalRequest("release", sessionId, terminalId), PATIENCE);
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
    await askWithin(link, about("kill"), PATIENCE);
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

/** For a client to end a command, to say what it wrote, and to let go of its terminal. */
const PATIENCE_MS = 3000;
const PATIENCE: Limits = { milliseconds: PATIENCE_MS, signal: new AbortController().signal };
/** For one to make a terminal, which may be on a machine far away. */
const CREATION_MS = 30_000;

/** Clients keep to the limit as they count it; what is more is left out here. */
function cut({ output, truncated }: TerminalText, { outputBytes }: TerminalRun): JsonObject {
  const isLong = output.length > outputBytes;
  return {
    output: isLong ? output.slice(-outputBytes) : output,
    truncated: truncated || isLong,
  };
}

type Late = (answer: RpcAnswer) => Promise<void>;

interface Limits {
  readonly milliseconds: number;
  readonly signal: AbortSignal;
}

/** Undefined where there is no answer in time, or none is wanted any more: then it is taken back, and one that comes is `late`. */
async function askWithin(
  link: ClientLink,
  request: HostRequest,
  { milliseconds, signal }: Limits,
  late?: Late,
): Promise<RpcAnswer | undefined> {
  const guard = guardCall(link.clock, signal, { limit: "run", milliseconds });
  try {
    return await ask(link, request, guard.signal, late);
  } finally {
    guard.release();
  }
}

function ask(
  link: ClientLink,
  request: HostRequest,
  signal: AbortSignal,
  late?: Late,
): Promise<RpcAnswer | undefined> {
  return new Promise((resolve) => {
    const questionId = link.request(request, async (answer) => resolve(answer));
    if (questionId === undefined) return resolve(TOO_MUCH);
    const takeBack = (): void => {
      link.withdraw(questionId, late);
      resolve(undefined);
    };
    if (signal.aborted) takeBack();
    signal.addEventListener("abort", takeBack, { once: true });
  });
}

const TOO_MUCH: RpcAnswer = {
  ok: false,
  error: internalError("too much is asked of this client at once"),
};
const LATE: RpcAnswer = { ok: false, error: internalError("it does not answer") };
