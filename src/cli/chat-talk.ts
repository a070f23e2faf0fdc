import { SpanlineError } from "../domain/errors.ts";
import type { Attachment, Client, PromptResult, PromptRun } from "../host/index.ts";
import { randomHex } from "../platform/random.ts";
import type { ChatTurns } from "./chat-turns.ts";

export interface TalkFlags {
  /** Of a new session. */
  readonly agent?: string;
  readonly session?: string;
  readonly resume?: string | true;
  readonly observe?: true;
}

export interface TalkEvents {
  /** This is the session. Of one that was there before, what was said follows. */
  readonly opening: (sessionId: string, isNew: boolean) => void;
  /** A prompt goes to the agent now. */
  readonly began: (text: string) => void;
  readonly ended: (end: TurnEnd) => void;
}

export type TurnEnd =
  | { readonly type: "done"; readonly result: PromptResult }
  /** What comes of it is told by the session. */
  | { readonly type: "lost" }
  | { readonly type: "failed"; readonly error: unknown };

/** One person in one session. */
export interface ChatTalk {
  readonly sessionId: string;
  /** The name of this chat among the session's clients. */
  readonly clientId: string;
  role: Role;
  /** Whether a turn runs, whoever prompted for it. */
  readonly isBusy: boolean;
  /** Whether a prompt of this chat is under way. */
  readonly isPrompting: boolean;
  /** What is said when the turn is over. */
  readonly queued: readonly string[];
  say(text: string): void;
  /** Says what waits, where no turn runs any more. */
  goOn(): void;
  /** Nothing waits any longer; gives back what did. */
  takeBack(): readonly string[];
  /** Ends the turn that runs. */
  cancel(): Promise<void>;
  takeOver(): Promise<void>;
  /** Resolves when nothing runs and nothing waits. */
  idle(): Promise<void>;
}

/** `guest`: may ask and answer as far as its key may, and controls nothing. */
export type Role = "controller" | "observer" | "guest";

export interface TalkPlace {
  readonly events: TalkEvents;
  /** Hears all that the session says, also of before. */
  readonly turns: ChatTurns;
}

export async function openTalk(
  client: Client,
  flags: TalkFlags,
  talkPlace: TalkPlace,
): Promise<ChatTalk> {
  const { events } = talkPlace;
  const { agent } = flags;
  const place = {
    workingDirectory: process.cwd(),
    ...(agent !== undefined && { agent }),
  };
  const existing = await wantedSession(client, flags);
  const isNew = existing === undefined;
  const sessionId = isNew ? (await client.newSession(place)).sessionId : existing;
  events.opening(sessionId, isNew);
  if (!isNew) await client.loadSession(sessionId, place);
  const clientId = `chat-${randomHex(4)}`;
  const role = await attach(client, { sessionId, clientId }, flags.observe === true);
  return talkIn(client, { sessionId, clientId, role }, talkPlace);
}

/** Undefined for a new one. */
async function wantedSession(
  client: Client,
  { session, resume, observe }: TalkFlags,
): Promise<string | undefined> {
  const named = session ?? (typeof resume === "string" ? resume : undefined);
  if (named !== undefined && named !== "latest") return named;
  if (named === undefined && resume !== true) {
    if (observe !== true) return undefined;
    throw new SpanlineError("invalid_option", "--observe is for --session ID; name the session");
  }
  const here = named === undefined ? { workingDirectory: process.cwd() } : {};
  const { sessions } = await client.listSessions(here);
  const [newest] = sessions;
  if (newest !== undefined) return newest.sessionId;
  const where = named === undefined ? " of this folder" : "";
  throw new SpanlineError("not_found", `There is no session${where} yet`);
}

/** As controller where nobody else is it; who has no right to control asks as far as its key lets it. */
async function attach(
  client: Client,
  { sessionId, clientId }: Pick<ChatTalk, "sessionId" | "clientId">,
  isObserver: boolean,
): Promise<Role> {
  const own = { clientId, secret: randomHex(16), metadata: { surface: "chat" } };
  const observer: Attachment = { ...own, mode: "observer" };
  if (!isObserver) {
    try {
      await client.attach(sessionId, { ...own, mode: "controller" });
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

function talkIn(
  client: Client,
  { sessionId, clientId, role }: Pick<ChatTalk, "sessionId" | "clientId" | "role">,
  { events: { began, ended }, turns }: TalkPlace,
): ChatTalk {
  let run: PromptRun | undefined;
  let queued: readonly string[] = [];
  const waiting: (() => void)[] = [];

  async function turn(text: string): Promise<void> {
    const { ended: before } = turns;
    run = client.prompt(sessionId, text);
    began(text);
    const end = await endOf(run);
    run = undefined;
    if (end.type === "done" && turns.ended === before) turns.over();
    ended(end);
    goOn();
  }

  const isBusy = (): boolean => run !== undefined || turns.isRunning;

  function goOn(): void {
    if (isBusy()) return;
    const [next, ...others] = queued;
    queued = others;
    if (next !== undefined) return void turn(next);
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
    say(text) {
      queued = [...queued, text];
      goOn();
    },
    goOn,
    takeBack() {
      const taken = queued;
      queued = [];
      goOn();
      return taken;
    },
    cancel: () => client.cancel(sessionId),
    async takeOver() {
      await client.takeOver(sessionId);
    },
    idle: () =>
      run === undefined && queued.length === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push(resolve);
          }),
  };
}

async function endOf(run: PromptRun): Promise<TurnEnd> {
  try {
    // What it says is seen where everything is that the session says.
    for await (const _ of run);
    return { type: "done", result: await run.result };
  } catch (error) {
    const isLost = error instanceof SpanlineError && error.code === "connection_lost";
    return isLost ? { type: "lost" } : { type: "failed", error };
  }
}
