import type { Client, SessionNotification } from "../../host/index.ts";
import { toSingleLine } from "../../inspect/trace-style.ts";
import {
  completeCommand,
  describeMistypedCommand,
  formatHelp,
  formatPending,
  parseChatCommand,
  formatSessions,
  type ChatCommand,
} from "./chat-commands.ts";
import { formatError, formatTurnEnd, readTurnEnd } from "./turn-end-notes.ts";
import type { ChatUi } from "./ui.ts";
import type { ConnectionNotes } from "./connection-notes.ts";
import { createLineJoiner, type LineJoiner } from "./line-joiner.ts";
import {
  createChatParticipants,
  formatControlChange,
  type ChatParticipants,
} from "./participants.ts";
import { createChatScreen, type ChatScreen } from "./chat-screen.ts";
import type { ChatSession, ChatTurnEnd } from "./session.ts";
import { clearQueue, editPending, revokePending, sendText, skipTool } from "./terminal-steering.ts";
import { createChatView, type ChatView, type ViewOptions } from "./chat-view.ts";
import { cutToWidth } from "../markdown/text-width.ts";
import { INTERRUPTED } from "../shared/interruption.ts";
import { createWorkerCommands, type WorkerCommands } from "./workers/worker-commands.ts";
import { createWorkerResults, type WorkerResults } from "./workers/worker-results.ts";

export interface TerminalUiOptions extends Pick<ViewOptions, "hasColours" | "formatShowCommand"> {
  readonly link: ConnectionNotes;
}

/** A chat with a person at a terminal. */
export function createTerminalUi(options: TerminalUiOptions): ChatUi {
  const chat = openTerminalChat(options);
  const { link, view, participants } = chat;
  const { style, updates, approvals, note } = view;
  view.refresh();
  return {
    onOpening(sessionId, isNew) {
      chat.sessionId = sessionId;
      const heading = isNew ? "New session" : "Session";
      note(`${heading} ${toSingleLine(sessionId)}. /help lists the commands; Ctrl-D leaves.`);
    },
    onPromptSent(text) {
      view.runInOrder(() => {
        updates.showPrompt(text);
        view.refresh();
      });
    },
    onTurnEnd: (end) => showTurnEnd(chat, end),
    showUpdate(notification) {
      const { update, isHistory } = notification;
      const change = participants.update(update);
      view.runInOrder(() => updates.show(notification));
      showWorkerResult(chat, notification);
      if (change !== undefined && !isHistory && chat.session?.role === "observer") {
        note(formatControlChange(change), style.warn);
      }
      const turn = update.type === "info" ? update.turn : undefined;
      const end = turn === undefined ? undefined : readTurnEnd(turn, chat.session);
      if (end !== undefined) showTurnEnd(chat, end);
    },
    requestDecision(question, context) {
      const { toolCallId } = question.context;
      if (toolCallId !== undefined) updates.markReviewed(toolCallId);
      return approvals.requestDecision(question, context);
    },
    requestAnswer(question, context) {
      const { toolCallId } = question;
      if (toolCallId !== undefined) updates.markReviewed(toolCallId);
      return approvals.requestAnswer(question, context);
    },
    showLinkState(state) {
      const message = link.update(state);
      if (message === undefined) return;
      note(message.text, style[message.paint]);
      view.refresh();
      if (message.isFinal) chat.exit(1);
    },
    showControlChange: (isOwn) => showControlChange(chat, isOwn),
    note: (text) => note(text),
    hasPrompt: async () => true,
    run: (session, client) => run(chat, session, client),
    close(last) {
      chat.hasExited = true;
      view.close(last);
    },
  };
}

interface TerminalChat {
  readonly link: ConnectionNotes;
  readonly lines: LineJoiner;
  readonly participants: ChatParticipants;
  readonly screen: ChatScreen;
  readonly view: ChatView;
  readonly workerCommands: WorkerCommands;
  readonly workerResults: WorkerResults;
  /** Lines that were typed before the session was open. */
  readonly earlyLines: string[];
  sessionId: string | undefined;
  session: ChatSession | undefined;
  client: Client | undefined;
  /** Ends the chat with an exit code. */
  exit: (exitCode: number) => void;
  /** The exit code of a user who left after the first question, but before the session was open. */
  earlyExit: number | undefined;
  warned: "" | "leaving" | "cancelling";
  hasExited: boolean;
  /** Text typed by an observer, offered again after a takeover. */
  unsentText: string;
}

function openTerminalChat({ link, ...options }: TerminalUiOptions): TerminalChat {
  const lines = createLineJoiner();
  const participants = createChatParticipants();
  const screen = createChatScreen(
    { input: process.stdin, output: process.stdout },
    {
      onLine: (text) => receiveLine(chat, text),
      onInterrupt: () => interrupt(chat),
      onEnd: () => chat.exit(0),
      complete: (word) => completeCommand(word, view.updates.commands),
      isHistoryEnabled: () => !view.approvals.isOpen,
    },
  );
  const view: ChatView = createChatView({
    ...options,
    screen,
    getStatus: () => ({
      sessionId: chat.sessionId,
      session: chat.session,
      isCancelling: chat.warned === "cancelling",
      isContinued: lines.partial !== "",
      participants,
      isLost: link.isLost,
    }),
  });
  const chat: TerminalChat = {
    link,
    lines,
    participants,
    screen,
    view,
    workerCommands: createWorkerCommands(),
    workerResults: createWorkerResults((text) => noteRow(view, text)),
    earlyLines: [],
    sessionId: undefined,
    session: undefined,
    client: undefined,
    // Until `run` replaces this function, leaving ends the process like a signal. An open question means that the
    // session is about to open: `run` then leaves in order.
    exit(exitCode) {
      if (view.approvals.isOpen) chat.earlyExit = exitCode;
      else process.kill(process.pid, "SIGINT");
    },
    earlyExit: undefined,
    warned: "",
    hasExited: false,
    unsentText: "",
  };
  return chat;
}

function run(chat: TerminalChat, session: ChatSession, client: Client): Promise<number> {
  chat.session = session;
  chat.client = client;
  return new Promise((resolve) => {
    chat.exit = resolve;
    for (const text of chat.earlyLines.splice(0)) receiveLine(chat, text);
    chat.view.refresh();
    if (chat.earlyExit !== undefined) chat.exit(chat.earlyExit);
  });
}

function receiveLine(chat: TerminalChat, text: string): void {
  const { session, view, lines } = chat;
  chat.warned = "";
  if (session === undefined) return void chat.earlyLines.push(text);
  if (view.approvals.isOpen) {
    if (isCommandLine(chat, text)) handleInput(chat, text.trim());
    else view.approvals.answer(text);
    return;
  }
  if (lines.partial === "" && view.approvals.consumeLateAnswer(text))
    return noteLateAnswer(view, text);
  const joined = lines.add(text);
  if (joined !== undefined && joined.trim() !== "") handleInput(chat, joined);
  view.refresh();
}

/**
 * True for a command while a question is open. A text such as `/tmp` may be the answer to a question of the agent, so
 * then only the commands of the chat are commands.
 */
function isCommandLine({ view }: TerminalChat, text: string): boolean {
  const line = text.trim();
  if (!line.startsWith("/")) return false;
  return parseChatCommand(line) !== undefined || !view.approvals.isAnswer(line);
}

/** A user who still answers a question does not mean the agent. */
function noteLateAnswer({ note, style }: ChatView, text: string): void {
  note(`Not sent: ${toSingleLine(text)}`);
  note("The approval is no longer open. Enter the line again to send it to the agent.", style.warn);
}

function handleInput(chat: TerminalChat, text: string): void {
  const { session, link } = chat;
  const { style, updates, note, reply } = chat.view;
  const command = parseChatCommand(text);
  if (command !== undefined) {
    reply([`${style.strong("›")} ${toSingleLine(text)}`]);
    perform(chat, command).catch((error: unknown) => reply(formatError(error), style.bad));
    return;
  }
  const mistake = describeMistypedCommand(text, updates.commands);
  if (mistake !== undefined) {
    reply([`${style.strong("›")} ${toSingleLine(text)}`]);
    reply(mistake, style.warn);
  } else if (session?.role === "observer") {
    chat.unsentText = text;
    note(`Not sent: ${text}`);
    note("You are watching. /takeover takes control; then you can send it.", style.warn);
  } else {
    sendText(chat, text, "steer");
    if (chat.view.approvals.isOpen) reply(AFTER_TURN_NOTE);
    else if (link.isLost) note("It will be sent after reconnecting.");
  }
}

async function perform(chat: TerminalChat, command: ChatCommand): Promise<void> {
  const { session, client, screen, view } = chat;
  const { style, updates, reply } = view;
  if (session === undefined || client === undefined) return;
  const format = { style, width: view.width };
  const { name, argument } = command;
  switch (name) {
    case "steer":
    case "queue":
      if (session.role === "observer") return reply(OBSERVER_STEER_NOTE, style.warn);
      return sendText(chat, argument, name);
    case "pending":
      return reply(formatPending(await session.steering.list(), format));
    case "edit":
      return editPending(chat, session, argument);
    case "skip":
      return skipTool(view, session);
    case "revoke":
      return revokePending(chat, session, argument);
    case "remind":
      await session.remind(argument);
      return reply("The agent receives it with its next request to the model.");
    case "workers":
    case "delegate":
    case "trigger":
    case "close":
      return chat.workerCommands.perform({ name, argument }, { client, session, view });
    case "resume":
      return session.resume();
    case "help":
      return reply(formatHelp(updates.commands, format));
    case "exit":
      return chat.exit(0);
    case "cancel":
      if (session.role === "observer" && !session.isPrompting)
        return reply(OBSERVER_NOTE, style.warn);
      return cancel(chat, session);
    case "takeover":
      if (session.role === "controller") return reply("You control this session already.");
      await session.takeOver();
      screen.prefillInput(chat.unsentText);
      chat.unsentText = "";
      return;
    case "sessions": {
      const { sessions } = await client.listSessions();
      return reply(formatSessions(sessions, session.sessionId, format));
    }
  }
}

/** Prints a note as one row, cut to the width of the screen. */
function noteRow(view: ChatView, text: string): void {
  const { style, updates } = view;
  view.runInOrder(() => updates.note([style.dim(cutToWidth(text, view.width))]));
}

function showWorkerResult(
  { workerResults, client, session }: TerminalChat,
  notification: SessionNotification,
): void {
  const isOpen = client !== undefined && session !== undefined;
  const source = isOpen ? { client, sessionId: session.sessionId } : undefined;
  workerResults.update(notification, source);
}

function showTurnEnd(chat: TerminalChat, end: ChatTurnEnd): void {
  const { view } = chat;
  if (chat.hasExited) return;
  chat.warned = "";
  view.runInOrder(() => {
    view.updates.endTurn();
    const message = formatTurnEnd(end);
    if (message !== undefined) view.note(message.text, view.style[message.paint]);
    view.refresh();
  });
}

function showControlChange({ session, view }: TerminalChat, isOwn: boolean): void {
  const text = isOwn
    ? "You control this session now."
    : "Another client took control; you are watching now. /takeover takes it back.";
  view.note(text, isOwn ? view.style.good : view.style.warn);
  if (!isOwn && session !== undefined) void clearQueue(view, session);
}

async function cancel(chat: TerminalChat, session: ChatSession): Promise<void> {
  const { style, approvals, note } = chat.view;
  const isRunning = session.isBusy || approvals.isOpen;
  const isForeignTurn = session.isBusy && !mayCancel(session);
  if (isRunning && !isForeignTurn) chat.warned = "cancelling";
  chat.view.refresh();
  await clearQueue(chat.view, session);
  if (isForeignTurn) return note("The turn belongs to another client and continues.", style.warn);
  if (!isRunning) return note("No turn is running.", style.warn);
  await session.cancel();
}

function interrupt(chat: TerminalChat): void {
  const { session, lines, view } = chat;
  const { style, approvals, note } = view;
  if (session === undefined) return chat.exit(INTERRUPTED);
  // An observer leaves without cancelling the turns of others.
  const isRunning = session.role !== "observer" && (session.isBusy || approvals.isOpen);
  const isBusy = mayCancel(session) ? isRunning : session.queued.length > 0;
  if (isBusy && chat.warned === "") {
    return void cancel(chat, session).catch((error: unknown) =>
      note(formatError(error), style.bad),
    );
  }
  if (chat.warned === "leaving") return chat.exit(INTERRUPTED);
  chat.warned = "leaving";
  lines.clear();
  view.print([style.warn("Press Ctrl-C again to leave; the session is kept.")]);
}

/** The controller may cancel any turn, other clients only their own. */
function mayCancel({ role, isPrompting }: ChatSession): boolean {
  return role === "controller" || isPrompting;
}

const OBSERVER_STEER_NOTE =
  "You are watching. /takeover takes control; then you can send messages to the agent.";
const OBSERVER_NOTE =
  "You are watching and cannot cancel the turn. /takeover takes control; then you can cancel it.";
const AFTER_TURN_NOTE = "It runs when the turn ends. The question above is still open.";
