import { SpanlineError } from "../domain/errors.ts";
import type { Attachment, Client, PromptResult, PromptRun } from "../host/index.ts";
import { randomHex } from "../platform/random.ts";

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
  role: Role;
  readonly isBusy: boolean;
  /** What is said when the turn is over. */
  readonly queued: readonly string[];
  say(text: string): void;
  /** Ends the turn, and takes back what waits; gives back what that was. */
  cancel(): Promise<readonly string[]>;
  takeOver(): Promise<void>;
  /** Resolves when nothing runs and nothing waits. */
  idle(): Promise<void>;
}

/** `guest`: may ask and answer as far as its key may, and controls nothing. */
export type Role = "controller" | "observer" | "guest";

export async function openTalk(
  client: Client,
  flags: TalkFlags,
  events: TalkEvents,
): Promise<ChatTalk> {
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
  const role = await attach(client, sessionId, flags.observe === true);
  return talkIn(client, { sessionId, role }, events);
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
async function attach(client: Client, sessionId: string, isObserver: boolean): Promise<Role> {
  const own = {
    clientId: `chat-${randomHex(4)}`,
    secret: randomHex(16),
    metadata: { surface: "chat" },
  };
  const wanted: readonly (Attachment & { readonly role: Role })[] = isObserver
    ? [{ ...own, mode: "observer", role: "observer" }]
    : [
        { ...own, mode: "controller", role: "controller" },
        { ...own, mode: "observer", role: "observer" },
      ];
  for (const { role, ...attachment } of wanted) {
    try {
      await client.attach(sessionId, attachment);
      return role;
    } catch (error) {
      const code = error instanceof SpanlineError ? error.code : undefined;
      if (code === "access_denied" && role === "controller") {
        await client.attach(sessionId, {
          ...own,
          mode: "observer",
          mayPrompt: true,
          mayApprove: true,
        });
        return "guest";
      }
      if (code !== "conflict" || role === "observer") throw error;
    }
  }
  return "observer";
}

function talkIn(
  client: Client,
  { sessionId, role }: Pick<ChatTalk, "sessionId" | "role">,
  { began, ended }: TalkEvents,
): ChatTalk {
  let run: PromptRun | undefined;
  let queued: readonly string[] = [];
  const waiting: (() => void)[] = [];

  async function turn(text: string): Promise<void> {
    run = client.prompt(sessionId, text);
    began(text);
    const end = await endOf(run);
    run = undefined;
    ended(end);
    const [next, ...others] = queued;
    queued = others;
    if (next !== undefined) return turn(next);
    for (const resolve of waiting.splice(0)) resolve();
  }

  return {
    sessionId,
    role,
    get isBusy() {
      return run !== undefined;
    },
    get queued() {
      return queued;
    },
    say(text) {
      if (run === undefined) void turn(text);
      else queued = [...queued, text];
    },
    async cancel() {
      const taken = queued;
      queued = [];
      await client.cancel(sessionId);
      return taken;
    },
    async takeOver() {
      await client.takeOver(sessionId);
    },
    idle: () =>
      run === undefined
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
