import { createInterface } from "node:readline";
import { formatThrown } from "../../domain/errors.ts";
import type { AvailableCommand, ExtensionUpdate, SessionNotification } from "../../host/index.ts";
import { toSingleLine, PLAIN_STYLE, escapeControls } from "../../inspect/trace-style.ts";
import type { InputStream } from "../../platform/process/command-io.ts";
import type { Terminal } from "../../platform/terminal/terminal.ts";
import { createToolCards, type ToolCards } from "./updates/tool-cards.ts";
import { describeMistypedCommand, parseChatCommand } from "./chat-commands.ts";
import { formatError, formatTurnEnd, readTurnEnd } from "./turn-end-notes.ts";
import type { ChatUi } from "./ui.ts";
import type { ConnectionNotes } from "./connection-notes.ts";
import { createLineJoiner } from "./line-joiner.ts";
import {
  createChatParticipants,
  formatControlChange,
  type ChatParticipants,
} from "./participants.ts";
import type { ChatSession, ChatTurnEnd } from "./session.ts";

export interface PipeUiOptions {
  readonly terminal: Terminal;
  readonly stdin: InputStream;
  /** Prints one JSON line per update. */
  readonly isJson: boolean;
  /** True: also prints the history and the prompts of other clients. */
  readonly isObserver: boolean;
  readonly formatShowCommand: (sessionId: string) => string | undefined;
  readonly link: ConnectionNotes;
  /** Ends the chat. */
  readonly signal: AbortSignal;
}

/** A chat with a program: the agent's text goes to standard output, everything else to standard error. */
export function createPipeUi(options: PipeUiOptions): ChatUi {
  const { isJson, isObserver, link, signal } = options;
  const chat = openPipeChat(options);
  const { output } = chat;
  return {
    showUpdate: (notification) => showUpdate(chat, notification),
    onPromptSent: () => {},
    onTurnEnd: (end) => handleTurnEnd(chat, end),
    requestDecision({ approval }) {
      chat.exitCode = 1;
      output.note(`${toSingleLine(approval.action)}: denied, because no terminal is available`);
      return { deny: "No terminal is available for approvals" };
    },
    requestAnswer({ message }) {
      chat.exitCode = 1;
      output.note(`${toSingleLine(message)}: not answered, because no terminal is available`);
      return "decline";
    },
    showLinkState(state) {
      const message = link.update(state);
      if (message === undefined) return;
      output.note(message.text);
      if (!message.isFinal) return;
      chat.exitCode = 1;
      output.close();
    },
    showControlChange(isOwn) {
      if (!isOwn) output.note("Another client took control of the session");
    },
    note: output.note,
    async hasPrompt() {
      // A program may wait for the `session` line before it sends a prompt.
      if (isObserver || isJson) return true;
      chat.first = await chat.prompts.next();
      if (chat.first.done === true)
        output.note("The input contains no prompt, so no session was opened.");
      await output.flush();
      return chat.first.done !== true;
    },
    onOpening(sessionId) {
      chat.sessionId = sessionId;
      if (isJson) output.writeJson({ type: "session", sessionId });
    },
    async run(session, client) {
      const stop = (): void => {
        if (session.role !== "observer") client.cancel(session.sessionId).catch(() => undefined);
      };
      signal.addEventListener("abort", stop);
      const work = isObserver ? new Promise<void>(() => {}) : readPrompts(chat, session);
      await Promise.race([work, output.closed]).catch((error: unknown) =>
        output.note(formatThrown(error)),
      );
      await output.flush();
      return chat.exitCode;
    },
    close(last) {
      if (last !== "" && !isJson) options.terminal.note(`${last}\n`);
    },
  };
}

interface PipeChat extends Pick<PipeUiOptions, "isJson" | "isObserver"> {
  readonly output: PipeOutput;
  readonly cards: ToolCards;
  readonly participants: ChatParticipants;
  /** The prompts of standard input. */
  readonly prompts: AsyncGenerator<string, void, undefined>;
  /** The prompt that was read before the session was open. */
  first: IteratorResult<string, void> | undefined;
  sessionId: string;
  exitCode: number;
  commands: readonly AvailableCommand[];
}

function openPipeChat(options: PipeUiOptions): PipeChat {
  const { terminal, stdin, isJson, isObserver, formatShowCommand, signal } = options;
  const chat: PipeChat = {
    isJson,
    isObserver,
    output: createPipeOutput(terminal),
    cards: createToolCards({
      style: PLAIN_STYLE,
      width: () => WIDTH,
      formatShowCommand: () => formatShowCommand(chat.sessionId),
    }),
    participants: createChatParticipants(),
    prompts: readStandardInput(stdin, signal),
    first: undefined,
    sessionId: "",
    exitCode: 0,
    commands: [],
  };
  return chat;
}

/** Writes to standard output and standard error in the order of the calls. */
interface PipeOutput {
  writeMessage(text: string, id: string | null): void;
  writeJson(fact: object): void;
  readonly note: (text: string) => void;
  /** Ends the current message. The next one starts a new paragraph. */
  endMessage(): void;
  /** Resolves when everything is written. */
  flush(): Promise<void>;
  /** Ends the output, like a reader that closes the pipe. */
  readonly close: () => void;
  readonly closed: Promise<void>;
}

function createPipeOutput(terminal: Terminal): PipeOutput {
  let isLineOpen = false;
  let message: string | null = null;
  /** True after the reader of standard output closed the pipe. */
  let hasNoReader = false;
  let close = (): void => {};
  const closed = new Promise<void>((resolve) => (close = resolve));
  let tail: Promise<void> = Promise.resolve();

  function write(text: string): void {
    tail = writeAfter(tail, text);
    tail.catch(() => undefined);
  }

  async function writeAfter(previous: Promise<void>, text: string): Promise<void> {
    await previous;
    if (!hasNoReader) hasNoReader = !(await terminal.write(text));
    if (hasNoReader) close();
  }

  async function noteAfter(previous: Promise<void>, text: string): Promise<void> {
    await previous;
    terminal.note(`${text}\n`);
  }

  function endLine(): void {
    if (isLineOpen) write("\n");
    isLineOpen = false;
  }

  return {
    writeMessage(text, id) {
      if (text === "") return;
      if (message !== null && id !== message) {
        endLine();
        write("\n");
      }
      message = id ?? "";
      isLineOpen = !text.endsWith("\n");
      write(terminal.isInteractive ? escapeControls(text) : text);
    },
    writeJson: (fact) => write(`${JSON.stringify(fact)}\n`),
    note(text) {
      endLine();
      tail = noteAfter(tail, text);
    },
    endMessage() {
      message = null;
      endLine();
    },
    flush: () => tail,
    close,
    closed,
  };
}

function showUpdate(chat: PipeChat, { update, ...context }: SessionNotification): void {
  const { output } = chat;
  if (chat.isJson) return output.writeJson({ type: "update", ...context, update });
  // The history is omitted: a program that sends prompts expects only the response to its own prompt.
  if (context.isHistory && !chat.isObserver) return;
  switch (update.type) {
    case "agent-text":
      return output.writeMessage(update.visibleDelta ?? update.text, update.messageId);
    case "user-text":
      return output.note(`› ${escapeControls(update.text)}`);
    case "tool":
      for (const row of chat.cards.update(update)) output.note(row);
      return;
    case "info": {
      const end = update.turn === undefined ? undefined : readTurnEnd(update.turn, undefined);
      if (end !== undefined && chat.isObserver) endTurn(chat, end);
      return;
    }
    case "commands":
      chat.commands = update.commands;
      return;
    case "worker":
      return output.note(`⑂ worker ${toSingleLine(update.name)}: ${toSingleLine(update.status)}`);
    case "extension":
      return showParticipants(chat, update, context.isHistory);
    default:
      return;
  }
}

/** Shows an observer the questions to other clients, and changes of control. */
function showParticipants(chat: PipeChat, update: ExtensionUpdate, isHistory: boolean): void {
  const { participants, output } = chat;
  const { length: previous } = participants.questions;
  const change = participants.update(update);
  if (!chat.isObserver) return;
  if (change !== undefined && !isHistory) output.note(formatControlChange(change));
  for (const about of participants.questions.slice(previous))
    output.note(`? ${toSingleLine(about)}`);
}

function endTurn({ output, cards }: PipeChat, end: ChatTurnEnd): void {
  output.endMessage();
  cards.clear();
  const text = end.type === "lost" ? CONNECTION_LOST_NOTE : formatTurnEnd(end)?.text;
  if (text !== undefined) output.note(text);
}

function handleTurnEnd(chat: PipeChat, end: ChatTurnEnd): void {
  const { isJson, sessionId, output } = chat;
  if (end.type !== "done" || end.result.reason !== "end_turn") chat.exitCode = 1;
  if (isJson && end.type === "done") output.writeJson({ type: "end", sessionId, ...end.result });
  if (isJson && end.type !== "done") {
    const error = end.type === "lost" ? CONNECTION_LOST_NOTE : formatError(end.error);
    output.writeJson({ type: "end", sessionId, error });
  }
  endTurn(chat, end);
}

async function readPrompts(chat: PipeChat, session: ChatSession): Promise<void> {
  const { prompts } = chat;
  let next = chat.first ?? (await prompts.next());
  for (; next.done !== true; next = await prompts.next()) {
    if (!handleInput(chat, session, next.value)) return void (await prompts.return());
    await session.whenIdle();
  }
}

/** Returns false if the input ends the chat. */
function handleInput(chat: PipeChat, session: ChatSession, text: string): boolean {
  const { output } = chat;
  const command = parseChatCommand(text);
  if (command?.name === "exit") return false;
  // A program that reads JSON waits for the end of each prompt: the bridge replies to a mistyped command.
  const mistake = chat.isJson ? undefined : describeMistypedCommand(text, chat.commands);
  if (command !== undefined) output.note(`/${command.name} needs a terminal; it was not sent`);
  else if (mistake !== undefined) {
    chat.exitCode = 1;
    output.note(mistake);
  } else if (session.role === "observer") {
    chat.exitCode = 1;
    output.note("This chat only observes; nothing was sent to the agent");
  } else session.submit(text);
  return true;
}

async function* readStandardInput(
  stdin: InputStream,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const lines = createLineJoiner();
  for await (const line of createInterface({ input: stdin, signal })) {
    const text = lines.add(line) ?? "";
    if (text.trim() !== "") yield text;
  }
  const rest = lines.partial.trimEnd();
  if (rest !== "") yield rest;
}

const WIDTH = 100;
const CONNECTION_LOST_NOTE =
  "The connection was lost before the end of the answer; `spanline chat --session` shows the result";
