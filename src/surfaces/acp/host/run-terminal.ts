import { guardInvocation } from "../../../async/invocation-guard.ts";
import type { JsonObject } from "../../../data/json.ts";
import {
  encodeCreateTerminalRequest,
  readTerminalExitReply,
  readTerminalIdReply,
  encodeTerminalRequest,
  readTerminalOutputReply,
  type TerminalCommand,
  type TerminalText,
} from "../../../wire/acp/host/editor-messages.ts";
import type { HostReply } from "../../../wire/acp/host/host-reply.ts";
import type { HostRequest } from "../../../wire/acp/host/host-request.ts";
import { createTerminalUpdate } from "../../../wire/acp/encode/acp-session-update.ts";
import { createInternalError } from "../../../wire/jsonrpc/rpc-error.ts";
import type { RpcResponse } from "../../../wire/jsonrpc/rpc-message.ts";
import type { ClientLink } from "../connection/client-link.ts";
import {
  toHostOutcome,
  createFailedOutcome,
  type HostOutcome,
  type HostTaskContext,
  type HostTask,
  type StartHostTask,
} from "./host-task.ts";

export interface TerminalRun extends TerminalCommand {
  /** Time limit of the command, in milliseconds. */
  readonly milliseconds: number;
}

function readTerminalRun(payload: JsonObject): TerminalRun | undefined {
  const { command, args, workingDirectory, outputBytes, milliseconds } = payload;
  if (typeof command !== "string" || typeof workingDirectory !== "string") return undefined;
  if (typeof outputBytes !== "number" || typeof milliseconds !== "number") return undefined;
  const commandArgs = Array.isArray(args) ? args.map(String) : [];
  return { command, args: commandArgs, workingDirectory, outputBytes, milliseconds };
}

/**
 * Runs a command in a terminal of the client. `onCreated` is called with the terminal's id once the terminal exists.
 */
function runTerminal(
  run: TerminalRun,
  { submitOutcome, ...place }: HostTaskContext,
  onCreated: (terminalId: string) => void,
): HostTask {
  const stopping = new AbortController();
  const { signal } = stopping;
  performRun(run, { ...place, onCreated, signal })
    .then((outcome) => (signal.aborted ? undefined : submitOutcome(outcome)))
    .catch((error: unknown) => {
      place.link.log("the result of a terminal was lost", { error: String(error) });
    });
  return { stop: () => stopping.abort() };
}

interface TerminalContext extends Omit<HostTaskContext, "submitOutcome"> {
  readonly onCreated: (terminalId: string) => void;
  /** Aborts when the outcome is no longer needed. */
  readonly signal: AbortSignal;
}

/** Creates the terminal, waits for the exit, reads the output, and always releases the terminal. */
async function performRun(run: TerminalRun, context: TerminalContext): Promise<HostOutcome> {
  const { onCreated, signal } = context;
  const createdTerminal = readTerminalIdReply((await createTerminal(run, context)) ?? NO_RESPONSE);
  if (createdTerminal.type !== "answered") return toHostOutcome(createdTerminal, () => ({}));
  const terminalId = createdTerminal.value;
  try {
    if (!signal.aborted) onCreated(terminalId);
    return await waitForExit(run, terminalId, context);
  } finally {
    void releaseTerminal(terminalId, context);
  }
}

/**
 * Creates a terminal. Stopping the command does not end this wait: a terminal created late must still be killed and
 * released.
 */
function createTerminal(
  run: TerminalRun,
  context: TerminalContext,
): Promise<RpcResponse | undefined> {
  const { sessionId, link } = context;
  const limits = { milliseconds: CREATION_TIMEOUT_MS, signal: link.disconnectSignal };
  return requestWithin(
    link,
    encodeCreateTerminalRequest(sessionId, run),
    limits,
    async (answer) => {
      const createdTerminal = readTerminalIdReply(answer);
      if (createdTerminal.type !== "answered") return;
      await requestWithin(
        link,
        encodeTerminalRequest("kill", sessionId, createdTerminal.value),
        HOST_LIMITS,
      );
      await releaseTerminal(createdTerminal.value, context);
    },
  );
}

async function releaseTerminal(
  terminalId: string,
  { sessionId, link }: TerminalContext,
): Promise<void> {
  await requestWithin(link, encodeTerminalRequest("release", sessionId, terminalId), HOST_LIMITS);
}

async function waitForExit(
  run: TerminalRun,
  terminalId: string,
  { sessionId, link, signal }: TerminalContext,
): Promise<HostOutcome> {
  const createRequest = (operation: "wait" | "kill" | "output"): HostRequest =>
    encodeTerminalRequest(operation, sessionId, terminalId);
  const { milliseconds } = run;
  const exitResponse = signal.aborted
    ? undefined
    : await requestWithin(link, createRequest("wait"), { milliseconds, signal });
  const status = exitResponse && readTerminalExitReply(exitResponse);
  if (status?.type !== "answered") {
    // Awaited, because some clients start the next command before the kill is done. The caller of `stop` does not wait.
    await requestWithin(link, createRequest("kill"), HOST_LIMITS);
  }
  if (signal.aborted) return createFailedOutcome("The command was stopped");
  if (status !== undefined && status.type !== "answered") return toRunOutcome(status, () => ({}));
  const read = await requestWithin(link, createRequest("output"), {
    milliseconds: HOST_TIMEOUT_MS,
    signal,
  });
  const exitFields = status === undefined ? { stopped: "time" } : { ...status.value };
  return toRunOutcome(readTerminalOutputReply(read ?? NO_RESPONSE), (text) => ({
    ...cutOutput(text, run),
    ...exitFields,
  }));
}

/**
 * Converts a reply about a command that has run. "Unsupported" becomes a failure here: falling back to another way
 * would run the command a second time.
 */
function toRunOutcome<Value>(
  answer: HostReply<Value>,
  toPayload: (value: Value) => JsonObject,
): HostOutcome {
  if (answer.type === "unsupported")
    return createFailedOutcome("the client has the terminal but cannot report its exit");
  return toHostOutcome(answer, toPayload);
}

/** Milliseconds for a client to kill a command, return its output, or release its terminal. */
const HOST_TIMEOUT_MS = 3000;
const HOST_LIMITS: RequestLimits = {
  milliseconds: HOST_TIMEOUT_MS,
  signal: new AbortController().signal,
};
/** Milliseconds to create a terminal, which may be on a remote machine. */
const CREATION_TIMEOUT_MS = 30_000;

/** Cuts the output to the limit. Clients apply the limit in their own units, so some return more. */
function cutOutput({ output, truncated }: TerminalText, { outputBytes }: TerminalRun): JsonObject {
  const isLong = output.length > outputBytes;
  return {
    output: isLong ? output.slice(-outputBytes) : output,
    truncated: truncated || isLong,
  };
}

type LateResponseHandler = (answer: RpcResponse) => Promise<void>;

interface RequestLimits {
  readonly milliseconds: number;
  readonly signal: AbortSignal;
}

/**
 * Sends a request with a timeout. Returns undefined if no response arrived in time or the signal aborted; the request
 * is then withdrawn, and a late response goes to `onLateResponse`.
 */
async function requestWithin(
  link: ClientLink,
  request: HostRequest,
  { milliseconds, signal }: RequestLimits,
  onLateResponse?: LateResponseHandler,
): Promise<RpcResponse | undefined> {
  const guard = guardInvocation(link.clock, signal, { limit: "run", milliseconds });
  try {
    return await sendRequest(link, request, guard.signal, onLateResponse);
  } finally {
    guard.release();
  }
}

function sendRequest(
  link: ClientLink,
  request: HostRequest,
  signal: AbortSignal,
  onLateResponse?: LateResponseHandler,
): Promise<RpcResponse | undefined> {
  return new Promise((resolve) => {
    const requestKey = link.sendRequest(request, async (answer) => resolve(answer));
    if (requestKey === undefined) return resolve(TOO_MANY_REQUESTS);
    const withdraw = (): void => {
      link.withdrawRequest(requestKey, onLateResponse);
      resolve(undefined);
    };
    if (signal.aborted) withdraw();
    signal.addEventListener("abort", withdraw, { once: true });
  });
}

const TOO_MANY_REQUESTS: RpcResponse = {
  ok: false,
  error: createInternalError("the client has too many open requests"),
};
const NO_RESPONSE: RpcResponse = {
  ok: false,
  error: createInternalError("the client did not respond in time"),
};

/** The client's terminals in which tool calls of one session run. */
interface EditorTerminals {
  createTask(payload: JsonObject): StartHostTask | undefined;
  /** By tool call. Only this client knows the terminal, so only this client receives its id. */
  readonly findTerminal: (toolCallId: string) => string | undefined;
}

export function createEditorTerminals(
  sessionId: string,
  { sendUpdate }: Pick<ClientLink, "sendUpdate">,
): EditorTerminals {
  const terminalIds = new Map<string, string>();
  return {
    createTask(payload) {
      const { toolCallId } = payload;
      const run = readTerminalRun(payload);
      if (typeof toolCallId !== "string" || run === undefined) return undefined;
      return (context) =>
        runTerminal(run, context, (terminalId) => {
          terminalIds.set(toolCallId, terminalId);
          const [oldest = ""] = terminalIds.keys();
          if (terminalIds.size > MAX_TERMINALS) terminalIds.delete(oldest);
          sendUpdate(sessionId, createTerminalUpdate(toolCallId, terminalId));
        });
    },
    findTerminal: (toolCallId) => terminalIds.get(toolCallId),
  };
}

const MAX_TERMINALS = 1000;
