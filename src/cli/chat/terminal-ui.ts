import type { Client } from "../../host/index.ts";
import { toSingleLine } from "../../inspect/trace-style.ts";
import {
  completeCommand,
  describeMistypedCommand,
  formatHelp,
  parseChatCommand,
  formatSessions,
  type ChatCommand,
} from "./chat-commands.ts";
import { formatError, formatTurnEnd, readTurnEnd } from "./turn-end-notes.ts";
import type { ChatUi } from "./ui.ts";
import type { ConnectionNotes } from "./connection-notes.ts";
import { createLineJoiner } from "./line-joiner.ts";
import { createChatParticipants, formatControlChange } from "./participants.ts";
import { createChatScreen } from "./chat-screen.ts";
import type { ChatSession, ChatTurnEnd } from "./session.ts";
import { createChatView, type ViewOptions } from "./chat-view.ts";
import { INTERRUPTED } from "../shared/interruption.ts";

export interface TerminalUiOptions extends Pick<ViewOptions, "hasColours" | "formatShowCommand"> {
  readonly link: ConnectionNotes;
}

/** A chat with a person at a terminal. */
export function createTerminalUi({ link, ...options }: TerminalUiOptions): ChatUi {
  let currentSessionId: string | undefined;
  let session: ChatSession | undefined;
  let client: Client | undefined;
  /** The exit code of a person who left after the first question, but before the session was open. */
  let earlyExit: number | undefined;
  // Until `run` replaces this function, leaving ends the process as a signal does. A question means that the session is about to
  // open: `run` then leaves in order.
  let exit = (exitCode: number): void => {
    if (approvals.isOpen) earlyExit = exitCode;
    else process.kill(process.pid, "SIGINT");
  };
  /** What was typed before there was somebody to say it to. */
  const earlyLines: string[] = [];
  let warned: "" | "leaving" | "cancelling" = "";
  let hasExited = false;
  /** What was typed by who only watches: it can be said after a takeover. */
  let unsentText = "";
  const lines = createLineJoiner();
  const participants = createChatParticipants();
  const screen = createChatScreen(
    { input: process.stdin, output: process.stdout },
    {
      onLine: line,
      onInterrupt: interrupt,
      onEnd: () => exit(0),
      complete: (word) => completeCommand(word, updates.commands),
      isHistoryEnabled: () => !approvals.isOpen,
    },
  );
  const view = createChatView({
    ...options,
    screen,
    getStatus: () => ({
      sessionId: currentSessionId,
      session,
      isCancelling: warned === "cancelling",
      isContinued: lines.partial !== "",
      participants,
      isLost: link.isLost,
    }),
  });
  const { style, updates, approvals, note } = view;
  view.refresh();

  function line(text: string): void {
    warned = "";
    if (session === undefined) return void earlyLines.push(text);
    if (approvals.isOpen) return approvals.answer(text);
    const joined = lines.add(text);
    if (joined !== undefined && joined.trim() !== "") handleInput(joined);
    view.refresh();
  }

  function handleInput(text: string): void {
    const command = parseChatCommand(text);
    if (command !== undefined) {
      updates.note([`${style.strong("›")} ${toSingleLine(text)}`]);
      perform(command).catch((error: unknown) => note(formatError(error), style.bad));
      return;
    }
    const mistake = describeMistypedCommand(text, updates.commands);
    if (mistake !== undefined) {
      updates.note([`${style.strong("›")} ${toSingleLine(text)}`]);
      note(mistake, style.warn);
    } else if (session?.role === "observer") {
      unsentText = text;
      note(`Not said: ${text}`);
      note("You are watching. /takeover takes control, then you can say it.", style.warn);
    } else {
      session?.submit(text);
      if (link.isLost) note("It is sent when there is a connection again.");
    }
  }

  async function perform(command: ChatCommand): Promise<void> {
    if (session === undefined || client === undefined) return;
    const format = { style, width: view.width };
    switch (command) {
      case "help":
        return updates.note(formatHelp(updates.commands, format));
      case "exit":
        return exit(0);
      case "cancel":
        if (session.role === "observer" && !session.isPrompting)
          return note(OBSERVER_NOTE, style.warn);
        return cancel(session);
      case "takeover":
        if (session.role === "controller") return note("You control this session already.");
        await session.takeOver();
        screen.prefillInput(unsentText);
        unsentText = "";
        return;
      case "sessions": {
        const { sessions } = await client.listSessions();
        return updates.note(formatSessions(sessions, session.sessionId, format));
      }
    }
  }

  function onTurnEnd(end: ChatTurnEnd): void {
    if (hasExited) return;
    warned = "";
    view.runInOrder(() => {
      updates.endTurn();
      const message = formatTurnEnd(end);
      if (message !== undefined) note(message.text, style[message.paint]);
      view.refresh();
    });
  }

  async function cancel(chatSession: ChatSession): Promise<void> {
    const isForeignTurn = chatSession.isBusy && !mayCancel(chatSession);
    clearQueue(chatSession);
    if (isForeignTurn) return note("The turn is somebody else's, and goes on.", style.warn);
    if (!chatSession.isBusy && !approvals.isOpen) return note("Nothing runs.", style.warn);
    warned = "cancelling";
    view.refresh();
    await chatSession.cancel();
  }

  function clearQueue(chatSession: ChatSession): void {
    const clearedPrompts = chatSession.clearQueue();
    if (clearedPrompts.length > 0)
      note(`Not sent: ${clearedPrompts.map(toSingleLine).join(" · ")}`, style.warn);
  }

  function interrupt(): void {
    if (session === undefined) return exit(INTERRUPTED);
    // Whoever only watches leaves, and ends nothing of what others do.
    const isRunning = session.role !== "observer" && (session.isBusy || approvals.isOpen);
    const isBusy = mayCancel(session) ? isRunning : session.queued.length > 0;
    if (isBusy && warned === "") {
      return void cancel(session).catch((error: unknown) => note(formatError(error), style.bad));
    }
    if (warned === "leaving") return exit(INTERRUPTED);
    warned = "leaving";
    lines.clear();
    view.print([style.warn("Ctrl-C again leaves; the session stays.")]);
  }

  return {
    onOpening(sessionId, isNew) {
      currentSessionId = sessionId;
      const heading = isNew ? "New session" : "Session";
      note(`${heading} ${toSingleLine(sessionId)}. /help says what there is; Ctrl-D leaves.`);
    },
    onPromptSent(text) {
      view.runInOrder(() => {
        updates.showPrompt(text);
        view.refresh();
      });
    },
    onTurnEnd,
    showUpdate(notification) {
      const { update, isHistory } = notification;
      const change = participants.update(update);
      view.runInOrder(() => updates.show(notification));
      if (change !== undefined && !isHistory && session?.role === "observer") {
        note(formatControlChange(change), style.warn);
      }
      const turn = update.type === "info" ? update.turn : undefined;
      const end = turn === undefined ? undefined : readTurnEnd(turn, session);
      if (end !== undefined) onTurnEnd(end);
    },
    requestDecision(question, context) {
      const { toolCallId } = question.context;
      if (toolCallId !== undefined) updates.markReviewed(toolCallId);
      return approvals.requestDecision(question, context);
    },
    showLinkState(state) {
      const message = link.update(state);
      if (message === undefined) return;
      note(message.text, style[message.paint]);
      view.refresh();
      if (message.isFinal) exit(1);
    },
    showControlChange(isOwn) {
      const text = isOwn
        ? "You control this session now."
        : "Somebody else took control; you are watching now. /takeover takes it back.";
      note(text, isOwn ? style.good : style.warn);
      if (!isOwn && session !== undefined) clearQueue(session);
    },
    note: (text) => note(text),
    hasPrompt: async () => true,
    run(openedSession, openedClient) {
      session = openedSession;
      client = openedClient;
      return new Promise((resolve) => {
        exit = resolve;
        for (const text of earlyLines.splice(0)) line(text);
        view.refresh();
        if (earlyExit !== undefined) exit(earlyExit);
      });
    },
    close(last) {
      hasExited = true;
      view.close(last);
    },
  };
}

/** Who controls ends any turn, and everybody else one that is its own. */
function mayCancel({ role, isPrompting }: ChatSession): boolean {
  return role === "controller" || isPrompting;
}

const OBSERVER_NOTE =
  "You are watching, and end nobody's turn. /takeover takes control, then you can cancel it.";
