import { SpanlineError } from "../../domain/errors.ts";
import type { Attachment, Client, PromptResult, PromptRun } from "../../host/index.ts";
import { randomHex } from "../../platform/random.ts";
import type { ChatTurns } from "./chat-turns.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface ChatSessionFlags {
  /** The agent of a new session. */
  readonly agent?: string;
  readonly session?: string;
  readonly resume?: string | true;
  readonly observe?: true;
}

export interface ChatSessionEvents {
  /** Called when the session is known. The history of an existing session follows. */
  readonly onOpening: (sessionId: string, isNew: boolean) => void;
  /** Called when a prompt is sent to the agent. */
  readonly onPromptSent: (text: string) => void;
  readonly onTurnEnd: (end: ChatTurnEnd) => void;
}

export type ChatTurnEnd =
  | { readonly type: "done"; readonly result: PromptResult }
  /** The connection was lost; the session reports the rest of the turn later. */
  | { readonly type: "lost" }
  | { readonly type: "failed"; readonly error: unknown };

/** A user's view of a session. */
export interface ChatSession {
  readonly sessionId: string;
  /** The id of this chat among the session's clients. */
  readonly clientId: string;
  role: ChatRole;
  /** True if a turn runs, whichever client prompted. */
  readonly isBusy: boolean;
  /** True if a prompt of this chat is running. */
  readonly isPrompting: boolean;
  /** Prompts waiting for the end of the turn. */
  readonly queued: readonly string[];
  submit(text: string): void;
  /** Sends the next queued prompt if no turn runs. */
  submitNext(): void;
  /** Empties the queue. Returns the removed prompts. */
  clearQueue(): readonly string[];
  /** Cancels the running turn. */
  cancel(): Promise<void>;
  takeOver(): Promise<void>;
  /** Resolves when no turn runs and the queue is empty. */
  whenIdle(): Promise<void>;
}

/** `guest`: may prompt and approve as far as its key allows, but not control. */
export type ChatRole = "controller" | "observer" | "guest";

export interface ChatSessionContext {
  /** The working directory of a new session, and of the sessions that `--resume` looks for. */
  readonly cwd: string;
  readonly events: ChatSessionEvents;
  /** Receives all updates of the session, including the history. */
  readonly turns: ChatTurns;
}

export async function openChatSession(
  client: Client,
  flags: ChatSessionFlags,
  context: ChatSessionContext,
): Promise<ChatSession> {
  const { cwd, events } = context;
  const { agent } = flags;
  const sessionOptions = {
    workingDirectory: cwd,
    ...omitUndefined({ agent }),
  };
  const existing = await resolveSessionId(client, { ...flags, cwd });
  const isNew = existing === undefined;
  const sessionId = isNew ? (await client.newSession(sessionOptions)).sessionId : existing;
  events.onOpening(sessionId, isNew);
  if (!isNew) await client.loadSession(sessionId, sessionOptions);
  const clientId = `chat-${randomHex(4)}`;
  const role = await attachClient(client, { sessionId, clientId }, flags.observe === true);
  return createChatSession(client, { sessionId, clientId, role }, context);
}

/** Returns the id of an existing session. Undefined for a new session. */
async function resolveSessionId(
  client: Client,
  { session, resume, observe, cwd }: ChatSessionFlags & Pick<ChatSessionContext, "cwd">,
): Promise<string | undefined> {
  const named = session ?? (typeof resume === "string" ? resume : undefined);
  if (named !== undefined && named !== "latest") return named;
  if (named === undefined && resume !== true) {
    if (observe !== true) return undefined;
    throw new SpanlineError(
      "invalid_option",
      "--observe requires a session. Fix: add --session ID",
    );
  }
  const query = named === undefined ? { workingDirectory: cwd } : {};
  const { sessions } = await client.listSessions(query);
  const [newest] = sessions;
  if (newest !== undefined) return newest.sessionId;
  const where = named === undefined ? " of this folder" : "";
  throw new SpanlineError("not_found", `No session${where} exists yet`);
}

/**
 * Attaches as controller if the session has none, otherwise as observer. A client without the right to control attaches
 * as guest.
 */
async function attachClient(
  client: Client,
  { sessionId, clientId }: Pick<ChatSession, "sessionId" | "clientId">,
  isObserver: boolean,
): Promise<ChatRole> {
  const attachment = { clientId, secret: randomHex(16), metadata: { surface: "chat" } };
  const observer: Attachment = { ...attachment, mode: "observer" };
  if (!isObserver) {
    try {
      await client.attach(sessionId, { ...attachment, mode: "controller" });
      return "controller";
    } catch (error) {
      const code = error instanceof SpanlineError ? error.code : undefined;
      if (code === "access_denied") {
        await client.attach(sessionId, { ...observer, mayPrompt: true, mayApprove: true });
        return "guest";
      }
      if (code !== "conflict") throw error;
    }
  }
  await client.attach(sessionId, observer);
  return "observer";
}

function createChatSession(
  client: Client,
  { sessionId, clientId, role }: Pick<ChatSession, "sessionId" | "clientId" | "role">,
  { events: { onPromptSent, onTurnEnd }, turns }: ChatSessionContext,
): ChatSession {
  let run: PromptRun | undefined;
  let queued: readonly string[] = [];
  const waiting: (() => void)[] = [];

  async function runTurn(text: string): Promise<void> {
    const { endedCount: endedBefore } = turns;
    run = client.prompt(sessionId, text);
    onPromptSent(text);
    const end = await awaitTurnEnd(run);
    run = undefined;
    if (end.type === "done" && turns.endedCount === endedBefore) turns.markIdle();
    onTurnEnd(end);
    submitNext();
  }

  const isBusy = (): boolean => run !== undefined || turns.isRunning;

  function submitNext(): void {
    if (isBusy()) return;
    const [next, ...others] = queued;
    queued = others;
    if (next !== undefined) return void runTurn(next);
    for (const resolve of waiting.splice(0)) resolve();
  }

  return {
    sessionId,
    clientId,
    role,
    get isBusy() {
      return isBusy();
    },
    get isPrompting() {
      return run !== undefined;
    },
    get queued() {
      return queued;
    },
    submit(text) {
      queued = [...queued, text];
      submitNext();
    },
    submitNext,
    clearQueue() {
      const cleared = queued;
      queued = [];
      submitNext();
      return cleared;
    },
    cancel: () => client.cancel(sessionId),
    async takeOver() {
      await client.takeOver(sessionId);
    },
    whenIdle: () =>
      run === undefined && queued.length === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push(resolve);
          }),
  };
}

async function awaitTurnEnd(run: PromptRun): Promise<ChatTurnEnd> {
  try {
    // The updates are displayed through `onUpdate`, so the iteration only waits for the end.
    for await (const _ of run);
    return { type: "done", result: await run.result };
  } catch (error) {
    const isLost = error instanceof SpanlineError && error.code === "connection_lost";
    return isLost ? { type: "lost" } : { type: "failed", error };
  }
}
