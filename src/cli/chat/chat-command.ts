import { SpanlineError } from "../../domain/errors.ts";
import { toSingleLine } from "../../inspect/trace-style.ts";
import { createClient, createHost, type Client } from "../../host/index.ts";
import { readPackageVersion } from "../../platform/package-version.ts";
import { startExitWatchdog } from "../../platform/process/exit-watchdog.ts";
import { createTerminal, type Terminal } from "../../platform/terminal/terminal.ts";
import {
  openChatConnection,
  type ChatConnection,
  type ChatConnectionFlags,
} from "./chat-connection.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import { parseBudget } from "./parse-budget.ts";
import type { ChatUi } from "./ui.ts";
import { createConnectionNotes } from "./connection-notes.ts";
import { createPipeUi } from "./pipe-ui.ts";
import {
  openChatSession,
  type ChatSession,
  type ChatSessionEvents,
  type ChatSessionFlags,
} from "./session.ts";
import { createTerminalUi } from "./terminal-ui.ts";
import { createChatTurns } from "./chat-turns.ts";
import { formatErrorMessage } from "../shared/error-message.ts";
import { findFlag } from "../shared/flags/find-flag.ts";
import { INTERRUPTED } from "../shared/interruption.ts";
import { resolveProgramName } from "../shared/program-name.ts";
import { resolveDataDirectory } from "../shared/flags/resolve-data-directory.ts";
import { quoteShellWord } from "../shared/terminal/shell-word.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";

export interface ChatFlags extends ChatConnectionFlags, ChatSessionFlags {
  readonly json?: true;
  /** The caps of the turn of each prompt, such as `tokens=20000,toolCalls=10`. */
  readonly budget?: string;
}

interface ChatRun {
  readonly io: CommandIo;
  readonly signal: AbortSignal;
}

/** Runs a chat until the user leaves. Returns the exit code. */
export async function runChatCommand(flags: ChatFlags, io: CommandIo): Promise<number> {
  const terminal = createTerminal(io);
  const end = new AbortController();
  const stop = (): void => (end.signal.aborted ? io.exit(INTERRUPTED) : end.abort());
  for (const signal of ["SIGINT", "SIGTERM"] as const) io.signals.on(signal, stop);
  const ui = createUi(flags, { io, terminal, signal: end.signal });
  try {
    return await runChat(flags, ui, { io, signal: end.signal });
  } catch (error) {
    ui.close("");
    if (end.signal.aborted) return INTERRUPTED;
    const messageOptions = {
      nextStep: createNextStep(flags, io),
      findFlag: (path: string) => findFlag(path, flags),
    };
    terminal.note(`${formatErrorMessage(error, messageOptions)}\n`);
    return error instanceof SpanlineError && USAGE_ERROR_CODES.has(error.code) ? 2 : 1;
  } finally {
    // A file as standard input does not keep the process alive and has no `unref`.
    io.stdin.unref?.();
    // A tool that ignores its abort signal would keep the process alive.
    startExitWatchdog(EXIT_TIMEOUT_MS, () => io.exit());
  }
}

/** Explains the missing right to control, depending on the credentials. */
function formatGuestNote(hasToken: boolean): string {
  const why = hasToken ? "your key does not allow it." : "the bridge's --token is required.";
  return `You may send prompts, but neither approve nor control: ${why}`;
}

/** Returns the host without other parts of the URL, which may contain a token. */
function readHost(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

const OWNER = "the process that runs the sessions";
const EXIT_TIMEOUT_MS = 3000;
const USAGE_ERROR_CODES: ReadonlySet<string> = new Set([
  "invalid_option",
  "not_found",
  "store_failed",
]);

/** The terminal UI needs a terminal for both input and output. */
function createUi(
  flags: ChatFlags,
  { io, terminal, signal }: ChatRun & { readonly terminal: Terminal },
): ChatUi {
  // Sessions of a remote bridge cannot be shown with a local command.
  const formatShowCommand = (sessionId: string): string | undefined =>
    flags.url === undefined
      ? `${resolveProgramName(io)} sessions show ${quoteShellWord(sessionId)}${formatDirectoryFlag(flags)}`
      : undefined;
  const link = createConnectionNotes(
    flags.url === undefined ? OWNER : `the bridge at ${readHost(flags.url)}`,
  );
  const isInteractive = io.stdin.isTTY === true && terminal.isInteractive && flags.json !== true;
  return isInteractive
    ? createTerminalUi({ hasColours: terminal.hasColours, formatShowCommand, link })
    : createPipeUi({
        terminal,
        stdin: io.stdin,
        isJson: flags.json === true,
        isObserver: flags.observe === true,
        formatShowCommand,
        link,
        signal,
      });
}

async function runChat(flags: ChatFlags, ui: ChatUi, { io, signal }: ChatRun): Promise<number> {
  const budget = flags.budget === undefined ? undefined : parseBudget(flags.budget);
  const connection = await openChatConnection(flags, { io, note: (text) => ui.note(text), signal });
  let chatSession: ChatSession | undefined;
  const turns = createChatTurns();
  /** The announcement is delayed until the session has loaded, so a session that cannot be loaded is not announced. */
  let open = (): void => {};
  const announceOpen = (): void => {
    open();
    open = () => {};
  };
  const client = createClient(connection.connect, {
    host: createHost({
      permission: (question, context) => ui.requestDecision(question, context),
      question: (question, context) => ui.requestAnswer(question, context),
    }),
    info: { name: "spanline-chat", title: "Spanline chat", version: readPackageVersion() },
    onUpdate(notification) {
      announceOpen();
      turns.update(notification);
      chatSession?.steering.update(notification.update);
      ui.showUpdate(notification);
      chatSession?.submitNext();
    },
    onState: (state) => ui.showLinkState(state),
    onControl(_, { mode }) {
      const role = mode === "controller" ? "controller" : "observer";
      if (chatSession === undefined || chatSession.role === role) return;
      chatSession.role = role;
      ui.showControlChange(mode === "controller");
    },
  });
  // An abort before the session is open closes the client.
  signal.addEventListener("abort", () => chatSession === undefined && void client.close());
  try {
    const isNew = flags.session === undefined && flags.resume === undefined;
    // An unknown agent is an error even without a prompt. A remote bridge checks the name when the session opens.
    const { checkAgent } = connection;
    if (isNew && flags.agent !== undefined) checkAgent?.(flags.agent);
    const needsPrompt = isNew && (flags.agent === undefined || checkAgent !== undefined);
    if (needsPrompt && !(await ui.hasPrompt())) return signal.aborted ? INTERRUPTED : 0;
    const events: ChatSessionEvents = {
      ...ui,
      onOpening: (...session) => void (open = () => ui.onOpening(...session)),
    };
    const settings = omitUndefined({ budget });
    chatSession = await openChatSession(client, flags, { cwd: io.cwd, events, turns, settings });
    announceOpen();
    if (chatSession.role === "guest") ui.note(formatGuestNote(connection.hasToken));
    const exitCode = await raceSignal(ui.run(chatSession, client), signal);
    ui.close(
      formatFarewell(chatSession, chatSession.isBusy && connection.isOwner, { ...flags, io }),
    );
    return exitCode;
  } finally {
    await disconnect(client, connection);
  }
}

/** Resolves with the exit code of the chat, or with 130 on a signal. */
function raceSignal(run: Promise<number>, signal: AbortSignal): Promise<number> {
  const stopped = new Promise<number>((resolve) => {
    signal.addEventListener("abort", () => resolve(INTERRUPTED));
  });
  return Promise.race([run, stopped]);
}

async function disconnect(client: Client, connection: ChatConnection): Promise<void> {
  await client.close();
  await connection.close();
}

function formatFarewell(
  { sessionId, role }: Pick<ChatSession, "sessionId" | "role">,
  isInterrupted: boolean,
  flags: ChatFlags & { readonly io: CommandIo },
): string {
  const { url, config, token, observe, budget } = flags;
  const parts = [
    `chat --session ${quoteShellWord(sessionId)}${formatDirectoryFlag(flags)}`,
    ...(config === undefined ? [] : [`--config ${quoteShellWord(config)}`]),
    ...(url === undefined ? [] : [`--url ${quoteShellWord(url)}`]),
    ...(budget === undefined ? [] : [`--budget ${quoteShellWord(budget)}`]),
    // The token is secret and is never printed.
    ...(token === undefined ? [] : ["--token …"]),
    ...(observe === true && role === "observer" ? ["--observe"] : []),
  ];
  const state = isInterrupted
    ? "The turn continues when the session is resumed"
    : "The session is stored";
  return `${state}. Come back with: ${resolveProgramName(flags.io)} ${parts.join(" ")}`;
}

function formatDirectoryFlag({ dataDir }: ChatFlags): string {
  return dataDir === undefined ? "" : ` -d ${quoteShellWord(dataDir)}`;
}

const CONNECTION_HINT =
  "Fix: check --url and --token. For the link http://HOST:PORT/…?token=TOKEN of `spanline up`, they are ws://HOST:PORT/acp and TOKEN.";

function createNextStep(
  flags: ChatFlags,
  io: CommandIo,
): (error: SpanlineError) => string | undefined {
  const { url, resume, dataDir } = flags;
  return ({ code, details }) => {
    if (details["path"] !== undefined) return undefined;
    if (url !== undefined && (code === "connect_failed" || code === "unauthorized")) {
      return CONNECTION_HINT;
    }
    // The message for an unknown agent already lists the known agents.
    if (code !== "not_found" || details["method"] === "session/new") return undefined;
    if (resume === true) return "Fix: start one with `spanline chat`, without --resume.";
    if (url !== undefined) return "Fix: list the sessions with `spanline sessions list`.";
    const directory = toSingleLine(resolveDataDirectory(dataDir, io, () => undefined));
    const list = `spanline sessions list${formatDirectoryFlag(flags)}`;
    return `Fix: list the sessions of ${directory} with \`${list}\`, or set --data-dir.`;
  };
}
