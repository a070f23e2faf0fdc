import { SpanlineError } from "../domain/errors.ts";
import { createClient, createHost, type Client } from "../host/index.ts";
import { packageVersion } from "../platform/package-version.ts";
import { lingering } from "../platform/lingering.ts";
import { processTerminal, type Terminal } from "../platform/terminal.ts";
import { chatPlace, type ChatPlace, type ChatPlaceFlags } from "./chat-connect.ts";
import type { ChatFace } from "./chat-face.ts";
import { chatLink } from "./chat-link.ts";
import { pipeFace } from "./chat-pipe.ts";
import { chatRepeats } from "./chat-repeats.ts";
import { openTalk, type ChatTalk, type TalkEvents, type TalkFlags } from "./chat-talk.ts";
import { terminalFace } from "./chat-terminal.ts";
import { chatTurns } from "./chat-turns.ts";
import { complaint } from "./complaint.ts";
import { flagFor } from "./flag-for.ts";
import { INTERRUPTED } from "./interruption.ts";
import { ownCommand } from "./own-command.ts";
import { shellWord } from "./shell-word.ts";

export interface ChatFlags extends ChatPlaceFlags, TalkFlags {
  readonly json?: true;
}

/** A chat with an agent until somebody leaves; returns the exit code. */
export async function chatCommand(flags: ChatFlags): Promise<number> {
  const terminal = processTerminal();
  const end = new AbortController();
  const stop = (): void => (end.signal.aborted ? process.exit(INTERRUPTED) : end.abort());
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
  const face = faceFor(flags, terminal, end.signal);
  try {
    return await chat(flags, face, end.signal);
  } catch (error) {
    face.close("");
    if (end.signal.aborted) return INTERRUPTED;
    const words = { nextStep: nextStep(flags), flagFor: (path: string) => flagFor(path, flags) };
    terminal.note(`${complaint(error, words)}\n`);
    return error instanceof SpanlineError && UNUSABLE.has(error.code) ? 2 : 1;
  } finally {
    // A file has nothing that would keep the process, and no such method.
    if ("unref" in process.stdin) process.stdin.unref();
    // A tool that does not hear that it is to stop would keep the process.
    lingering(LONG_MS, () => process.exit());
  }
}

/** What somebody may do without the right to control, and what that may come from. */
function guestNote(hasToken: boolean): string {
  const why = hasToken ? "your key lets you do no more." : "that takes the bridge's --token.";
  return `You may ask, and neither approve nor control: ${why}`;
}

/** Without what else an address may hold, such as a token. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

const OWNER = "the process that runs the sessions";
const LONG_MS = 3000;
const UNUSABLE: ReadonlySet<string> = new Set(["invalid_option", "not_found", "store_failed"]);

/** Somebody has to be there to read as well as to type. */
function faceFor(flags: ChatFlags, terminal: Terminal, signal: AbortSignal): ChatFace {
  // Of a bridge elsewhere there is nothing here to be shown.
  const wholeBy = (sessionId: string): string | undefined =>
    flags.url === undefined
      ? `${ownCommand()} sessions show ${shellWord(sessionId)}${directoryFlag(flags)}`
      : undefined;
  const link = chatLink(flags.url === undefined ? OWNER : `the bridge at ${hostOf(flags.url)}`);
  const isSeated = process.stdin.isTTY && terminal.isWatched && flags.json !== true;
  return isSeated
    ? terminalFace({ hasColours: terminal.colours, wholeBy, link })
    : pipeFace({
        terminal,
        isJson: flags.json === true,
        isObserver: flags.observe === true,
        wholeBy,
        link,
        signal,
      });
}

async function chat(flags: ChatFlags, face: ChatFace, signal: AbortSignal): Promise<number> {
  const place = await chatPlace(flags, { note: (text) => face.note(text), signal });
  let talk: ChatTalk | undefined;
  const turns = chatTurns();
  const isRepeated = chatRepeats();
  /** A session that cannot be taken up is not said to be there. */
  let open = (): void => {};
  const opened = (): void => {
    open();
    open = () => {};
  };
  const client = createClient(place.connect, {
    host: createHost({ permission: (question, context) => face.ask(question, context) }),
    info: { name: "spanline-chat", title: "Spanline chat", version: packageVersion() },
    onUpdate(told) {
      if (isRepeated(told)) return;
      opened();
      turns.told(told);
      face.told(told);
      talk?.goOn();
    },
    onState: (state) => face.linked(state),
    onControl(_, { mode }) {
      const role = mode === "controller" ? "controller" : "observer";
      if (talk === undefined || talk.role === role) return;
      talk.role = role;
      face.controlled(mode === "controller");
    },
  });
  // Whoever does not want to wait until there is something to talk to.
  signal.addEventListener("abort", () => talk === undefined && void client.close());
  try {
    const isNew = flags.session === undefined && flags.resume === undefined;
    if (isNew && !(await face.hasPrompt())) return signal.aborted ? INTERRUPTED : 0;
    const events: TalkEvents = {
      ...face,
      opening: (...session) => void (open = () => face.opening(...session)),
    };
    talk = await openTalk(client, flags, { events, turns });
    opened();
    if (talk.role === "guest") face.note(guestNote(place.hasToken));
    const exitCode = await ended(face.run(talk, client), signal);
    face.close(farewell(talk, talk.isBusy && place.isOwner, flags));
    return exitCode;
  } finally {
    await leave(client, place);
  }
}

/** A signal ends it, too. */
function ended(run: Promise<number>, signal: AbortSignal): Promise<number> {
  const stopped = new Promise<number>((resolve) => {
    signal.addEventListener("abort", () => resolve(INTERRUPTED));
  });
  return Promise.race([run, stopped]);
}

async function leave(client: Client, place: ChatPlace): Promise<void> {
  await client.close();
  await place.close();
}

function farewell(
  { sessionId, role }: Pick<ChatTalk, "sessionId" | "role">,
  isHalted: boolean,
  flags: ChatFlags,
): string {
  const { url, config, token, observe } = flags;
  const words = [
    `chat --session ${shellWord(sessionId)}${directoryFlag(flags)}`,
    ...(config === undefined ? [] : [`--config ${shellWord(config)}`]),
    ...(url === undefined ? [] : [`--url ${shellWord(url)}`]),
    // It is a secret, and stays one.
    ...(token === undefined ? [] : ["--token …"]),
    ...(observe === true && role === "observer" ? ["--observe"] : []),
  ];
  const state = isHalted ? "The turn goes on when it is taken up again" : "The session stays";
  return `${state}. Come back with: ${ownCommand()} ${words.join(" ")}`;
}

function directoryFlag({ dataDir }: ChatFlags): string {
  return dataDir === undefined ? "" : ` -d ${shellWord(dataDir)}`;
}

const NOT_THERE =
  "Check --url and --token: of the link that `spanline up` prints, http://HOST:PORT/…?token=TOKEN, these are ws://HOST:PORT/acp and TOKEN.";

function nextStep({ url, resume }: ChatFlags): (error: SpanlineError) => string | undefined {
  return ({ code, details }) => {
    if (details["path"] !== undefined) return undefined;
    if (url !== undefined && (code === "connect_failed" || code === "unauthorized")) {
      return NOT_THERE;
    }
    // Of an agent that there is not, the message says which there are.
    if (code !== "not_found" || details["method"] === "session/new") return undefined;
    return resume === true
      ? "`spanline chat` without --resume begins one."
      : "`spanline sessions list` shows what there is.";
  };
}
