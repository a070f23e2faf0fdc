import { createInterface } from "node:readline";
import { formatThrown } from "../../domain/errors.ts";
import type { AvailableCommand, ExtensionUpdate, SessionNotification } from "../../host/index.ts";
import { toSingleLine, PLAIN_STYLE, escapeControls } from "../../inspect/trace-style.ts";
import type { Terminal } from "../../platform/terminal/terminal.ts";
import { createToolCards } from "./tool-cards.ts";
import { describeMistypedCommand, parseChatCommand } from "./chat-commands.ts";
import { formatError, formatTurnEnd, readTurnEnd } from "./turn-end-notes.ts";
import type { ChatUi } from "./ui.ts";
import type { ConnectionNotes } from "./connection-notes.ts";
import { createLineJoiner } from "./line-joiner.ts";
import { createChatParticipants, formatControlChange } from "./participants.ts";
import type { ChatSession, ChatTurnEnd } from "./session.ts";
import type { InputStream } from "../../platform/process/command-io.ts";

export interface PipeUiOptions {
  readonly terminal: Terminal;
  readonly stdin: InputStream;
  /** Every update as a line of JSON. */
  readonly isJson: boolean;
  /** Shows what was said before, and what others do. */
  readonly isObserver: boolean;
  readonly formatShowCommand: (sessionId: string) => string | undefined;
  readonly link: ConnectionNotes;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** A chat with a program: what the agent says goes to standard output, all else to standard error. */
export function createPipeUi(options: PipeUiOptions): ChatUi {
  const { terminal, stdin, isJson, isObserver, formatShowCommand, link, signal } = options;
  let sessionId = "";
  const cards = createToolCards({
    style: PLAIN_STYLE,
    width: () => WIDTH,
    formatShowCommand: () => formatShowCommand(sessionId),
  });
  const participants = createChatParticipants();
  let exitCode = 0;
  let isLineOpen = false;
  let message: string | null = null;
  let commands: readonly AvailableCommand[] = [];
  /** Nobody reads it any more. */
  let isOutputClosed = false;
  let exit = (): void => {};
  const exited = new Promise<void>((resolve) => (exit = resolve));
  let tail: Promise<void> = Promise.resolve();
  const said = prompts();
  /** Read before there was somebody to say it to. */
  let first: IteratorResult<string, void> | undefined;

  function write(text: string): void {
    tail = writeAfter(tail, text);
    tail.catch(() => undefined);
  }

  async function writeAfter(previous: Promise<void>, text: string): Promise<void> {
    await previous;
    if (!isOutputClosed) isOutputClosed = !(await terminal.write(text));
    if (isOutputClosed) exit();
  }

  async function noteAfter(previous: Promise<void>, text: string): Promise<void> {
    await previous;
    terminal.note(`${text}\n`);
  }

  function json(fact: object): void {
    write(`${JSON.stringify(fact)}\n`);
  }

  function endLine(): void {
    if (isLineOpen) write("\n");
    isLineOpen = false;
  }

  function note(text: string): void {
    endLine();
    tail = noteAfter(tail, text);
  }

  function writeMessage(text: string, id: string | null): void {
    if (text === "") return;
    if (message !== null && id !== message) {
      endLine();
      write("\n");
    }
    message = id ?? "";
    isLineOpen = !text.endsWith("\n");
    write(terminal.isInteractive ? escapeControls(text) : text);
  }

  function showUpdate({ update, ...context }: SessionNotification): void {
    if (isJson) return json({ type: "update", ...context, update });
    // Whoever asks something wants its answer alone.
    if (context.isHistory && !isObserver) return;
    switch (update.type) {
      case "agent-text":
        return writeMessage(update.visibleDelta ?? update.text, update.messageId);
      case "user-text":
        return note(`› ${escapeControls(update.text)}`);
      case "tool":
        for (const row of cards.update(update)) note(row);
        return;
      case "info": {
        const end = update.turn === undefined ? undefined : readTurnEnd(update.turn, undefined);
        if (end !== undefined && isObserver) endTurn(end);
        return;
      }
      case "commands":
        commands = update.commands;
        return;
      case "extension":
        return showParticipants(update, context.isHistory);
      default:
        return;
    }
  }

  /** What others are asked, and that they leave, for who sees only what is said. */
  function showParticipants(update: ExtensionUpdate, isHistory: boolean): void {
    const { length: previous } = participants.questions;
    const change = participants.update(update);
    if (!isObserver) return;
    if (change !== undefined && !isHistory) note(formatControlChange(change));
    for (const about of participants.questions.slice(previous)) note(`? ${toSingleLine(about)}`);
  }

  function endTurn(end: ChatTurnEnd): void {
    message = null;
    endLine();
    cards.clear();
    const said = end.type === "lost" ? CONNECTION_LOST_NOTE : formatTurnEnd(end)?.text;
    if (said !== undefined) note(said);
  }

  function onTurnEnd(end: ChatTurnEnd): void {
    if (end.type !== "done" || end.result.reason !== "end_turn") exitCode = 1;
    if (isJson && end.type === "done") json({ type: "end", sessionId, ...end.result });
    if (isJson && end.type !== "done") {
      json({
        type: "end",
        sessionId,
        error: end.type === "lost" ? CONNECTION_LOST_NOTE : formatError(end.error),
      });
    }
    endTurn(end);
  }

  function handleInput(session: ChatSession, text: string): boolean {
    const command = parseChatCommand(text);
    if (command === "exit") return false;
    // A program that reads JSON waits for the end of each prompt: the bridge replies to a mistyped command.
    const mistake = isJson ? undefined : describeMistypedCommand(text, commands);
    if (command !== undefined) note(`/${command} needs a terminal; it was not sent`);
    else if (mistake !== undefined) {
      exitCode = 1;
      note(mistake);
    } else if (session.role === "observer") {
      exitCode = 1;
      note("This chat only watches; nothing was said to the agent");
    } else session.submit(text);
    return true;
  }

  async function* prompts(): AsyncGenerator<string, void, undefined> {
    const lines = createLineJoiner();
    for await (const line of createInterface({ input: stdin, signal })) {
      const text = lines.add(line) ?? "";
      if (text.trim() !== "") yield text;
    }
    const rest = lines.partial.trimEnd();
    if (rest !== "") yield rest;
  }

  async function read(session: ChatSession): Promise<void> {
    let next = first ?? (await said.next());
    for (; next.done !== true; next = await said.next()) {
      if (!handleInput(session, next.value)) return void (await said.return());
      await session.whenIdle();
    }
  }

  return {
    showUpdate,
    onPromptSent: () => {},
    onTurnEnd,
    requestDecision({ approval }) {
      exitCode = 1;
      note(`${toSingleLine(approval.action)}: denied, since there is no terminal to ask on`);
      return { deny: "There is nobody to ask" };
    },
    showLinkState(state) {
      const said = link.update(state);
      if (said === undefined) return;
      note(said.text);
      if (!said.isFinal) return;
      exitCode = 1;
      exit();
    },
    showControlChange(isOwn) {
      if (!isOwn) note("Somebody else took control of the session");
    },
    note,
    async hasPrompt() {
      // A program may wait for the session's line before it says anything.
      if (isObserver || isJson) return true;
      first = await said.next();
      if (first.done === true) note("Nothing was said, and no session was opened.");
      await tail;
      return first.done !== true;
    },
    onOpening(opened) {
      sessionId = opened;
      if (isJson) json({ type: "session", sessionId: opened });
    },
    async run(session, client) {
      const stop = (): void => {
        if (session.role !== "observer") client.cancel(session.sessionId).catch(() => undefined);
      };
      signal.addEventListener("abort", stop);
      const work = isObserver ? new Promise<void>(() => {}) : read(session);
      await Promise.race([work, exited]).catch((error: unknown) => note(formatThrown(error)));
      await tail;
      return exitCode;
    },
    close(last) {
      if (last !== "" && !isJson) terminal.note(`${last}\n`);
    },
  };
}

const WIDTH = 100;
const CONNECTION_LOST_NOTE =
  "The connection was lost before the answer was whole; `spanline chat --session` shows what came of it";
