import { SpanlineError } from "../../domain/errors.ts";
import type {
  Attachment,
  Client,
  PromptResult,
  PromptRun,
  PromptSettings,
} from "../../host/index.ts";
import { randomHex } from "../../platform/random.ts";
import type { ChatTurns } from "./chat-turns.ts";
import { createChatSteering, type ChatSteering } from "./steering.ts";
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
  /** Prompts of this chat waiting for the end of the turn, such as commands of the bridge. */
  readonly queued: readonly string[];
  /** Messages for the running turn. */
  readonly steering: ChatSteering;
  submit(text: string): void;
  /** Sends the next queued prompt if no turn runs. */
  submitNext(): void;
  /** Empties the queue. Returns the removed prompts. */
  clearQueue(): readonly string[];
  /** Cancels the running turn. */
  cancel(): Promise<void>;
  takeOver(): Promise<void>;
  /** Queues context for the agent which is not a message of the user. */
  remind(text: string): Promise<void>;
  /** Wakes an idle daemon. */
  resume(): Promise<void>;
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
  /** Sent with every prompt. */
  readonly settings?: PromptSettings;
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
  return new AttachedSession({ client, sessionId, clientId, role }, context);
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

interface AttachedClient extends Pick<ChatSession, "sessionId" | "clientId" | "role"> {
  readonly client: Client;
}

class AttachedSession implements ChatSession {
  readonly sessionId: string;
  readonly clientId: string;
  role: ChatRole;
  readonly steering: ChatSteering;
  readonly #client: Client;
  readonly #events: ChatSessionEvents;
  readonly #turns: ChatTurns;
  readonly #settings: PromptSettings;
  /** The running prompt of this chat. */
  #run: PromptRun | undefined;
  #queued: readonly string[] = [];
  /** Called when no turn runs and the queue is empty. */
  readonly #waiting: (() => void)[] = [];

  constructor(
    { client, sessionId, clientId, role }: AttachedClient,
    { events, turns, settings = {} }: Omit<ChatSessionContext, "cwd">,
  ) {
    this.#client = client;
    this.sessionId = sessionId;
    this.clientId = clientId;
    this.role = role;
    this.steering = createChatSteering(client, sessionId);
    this.#events = events;
    this.#turns = turns;
    this.#settings = settings;
  }

  get isBusy(): boolean {
    return this.#run !== undefined || this.#turns.isRunning;
  }

  get isPrompting(): boolean {
    return this.#run !== undefined;
  }

  get queued(): readonly string[] {
    return this.#queued;
  }

  submit(text: string): void {
    this.#queued = [...this.#queued, text];
    this.submitNext();
  }

  submitNext(): void {
    if (this.isBusy) return;
    const [next, ...others] = this.#queued;
    this.#queued = others;
    if (next !== undefined) return void this.#runTurn(next);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async #runTurn(text: string): Promise<void> {
    const { endedCount: endedBefore } = this.#turns;
    this.#run = this.#client.prompt(this.sessionId, text, this.#settings);
    this.#events.onPromptSent(text);
    const end = await awaitTurnEnd(this.#run);
    this.#run = undefined;
    if (end.type === "done" && this.#turns.endedCount === endedBefore) this.#turns.markIdle();
    this.#events.onTurnEnd(end);
    this.submitNext();
  }

  clearQueue(): readonly string[] {
    const cleared = this.#queued;
    this.#queued = [];
    this.submitNext();
    return cleared;
  }

  cancel(): Promise<void> {
    return this.#client.cancel(this.sessionId);
  }

  async takeOver(): Promise<void> {
    await this.#client.takeOver(this.sessionId);
  }

  async remind(text: string): Promise<void> {
    await this.#client.remind(this.sessionId, text);
  }

  resume(): Promise<void> {
    return this.#client.resume(this.sessionId);
  }

  whenIdle(): Promise<void> {
    if (this.#run === undefined && this.#queued.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }
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
