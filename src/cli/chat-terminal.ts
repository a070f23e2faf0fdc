import { SpanlineError, thrownMessage } from "../domain/errors.ts";
import type { Client, SessionTold } from "../host/index.ts";
import { oneLine, PLAIN, type Style } from "../inspect/style.ts";
import { chatAsking } from "./chat-asking.ts";
import { cut } from "./chat-cards.ts";
import {
  helpRows,
  OWN_COMMANDS,
  ownCommandIn,
  sessionRows,
  type OwnCommand,
} from "./chat-commands.ts";
import type { ChatFace } from "./chat-face.ts";
import { chatScreen, rowWidth, type ChatScreen } from "./chat-screen.ts";
import type { ChatTalk, TurnEnd } from "./chat-talk.ts";
import { chatUpdates, type ChatPage } from "./chat-updates.ts";
import { INTERRUPTED } from "./interruption.ts";
import { coloured, colouredMarks } from "./style.ts";
import { markStyle } from "./markdown/marks.ts";
import { wrapped } from "./markdown/row-layout.ts";

export interface TerminalFaceOptions {
  readonly hasColours: boolean;
  /** How to see all of what was shortened in a session. */
  readonly wholeBy: (sessionId: string) => string | undefined;
}

/** A chat with a person at a terminal. */
export function terminalFace({ hasColours, wholeBy }: TerminalFaceOptions): ChatFace {
  const style: Style = hasColours ? coloured() : PLAIN;
  let screen: ChatScreen | undefined;
  let talk: ChatTalk | undefined;
  let client: Client | undefined;
  let leave: (exitCode: number) => void = () => {};
  /** What came while a question is open. */
  let held: (() => void)[] | undefined;
  let typed = "";
  let warned: "" | "leaving" | "cancelling" = "";
  /** Something is said that nobody here asked for, so that a turn may be under way. */
  let isStirring = false;

  const page: ChatPage = {
    print(rows) {
      if (screen === undefined) process.stdout.write(rows.map((row) => `${row}\n`).join(""));
      else screen.print(rows);
    },
    show: (rows) => screen?.show(rows),
    get width() {
      return screen?.width ?? rowWidth(process.stdout);
    },
  };
  const marks = hasColours ? markStyle(style, colouredMarks()) : markStyle(PLAIN, null);
  const whole = (): string | undefined =>
    talk === undefined ? undefined : wholeBy(talk.sessionId);
  const updates = chatUpdates({ page, style, marks, wholeBy: whole, below: statusRows });
  const asking = chatAsking({
    screen: () => screen,
    style,
    hold() {
      held ??= [];
      page.show([]);
    },
    release() {
      const due = held ?? [];
      held = undefined;
      for (const run of due) run();
      renew();
    },
    print: (rows) => page.print(rows),
  });

  function inOrder(run: () => void): void {
    if (held === undefined) run();
    else held.push(run);
  }

  function note(text: string, paint: (row: string) => string = style.dim): void {
    inOrder(() => updates.note(wrapped(text, page.width).map(paint)));
  }

  function statusRows(): string[] {
    const rows: string[] = [];
    if (talk === undefined) return rows;
    if (talk.isBusy)
      rows.push(warned === "cancelling" ? "· cancelling" : "· working, Ctrl-C cancels");
    if (talk.role === "observer") rows.push("· watching; /takeover to take part");
    rows.push(...talk.queued.map((text) => `· next: ${oneLine(text)}`));
    return ["", ...rows.map((row) => style.dim(cut(row, page.width)))];
  }

  /** What stands below what is said. */
  function renew(): void {
    if (held !== undefined) return;
    screen?.prompt(typed === "" ? style.strong("› ") : style.strong("… "));
    updates.refresh();
  }

  function line(text: string): void {
    warned = "";
    if (asking.isOpen) return asking.answer(text);
    if (/(?<!\\)\\$/.test(text)) {
      typed += `${text.slice(0, -1)}\n`;
      return renew();
    }
    const whole = typed + text;
    typed = "";
    if (whole.trim() !== "") take(whole);
    renew();
  }

  function take(text: string): void {
    const command = ownCommandIn(text);
    if (command !== undefined) {
      updates.note([`${style.strong("›")} ${oneLine(text)}`]);
      void perform(command).catch((error: unknown) => note(complaintOf(error), style.bad));
    } else if (talk?.role === "observer") {
      note("You are watching. /takeover takes control, then you can say it.", style.warn);
    } else talk?.say(text);
  }

  async function perform(command: OwnCommand): Promise<void> {
    if (talk === undefined || client === undefined) return;
    switch (command) {
      case "help":
        return updates.note(helpRows(updates.commands, { style, width: page.width }));
      case "exit":
        return leave(0);
      case "cancel":
        return cancel();
      case "takeover":
        if (talk.role === "controller") return note("You control this session already.");
        return talk.takeOver();
      case "sessions": {
        const { sessions } = await client.listSessions();
        return updates.note(sessionRows(sessions, talk.sessionId, { style, width: page.width }));
      }
    }
  }

  async function cancel(): Promise<void> {
    const isBusy = talk?.isBusy === true || isStirring;
    warned = "cancelling";
    isStirring = false;
    const taken = (await talk?.cancel()) ?? [];
    note(isBusy ? "Cancelling the turn." : "Nothing of yours runs.", style.warn);
    if (taken.length > 0) note(`Not sent: ${taken.map(oneLine).join(" · ")}`, style.warn);
  }

  function interrupt(): void {
    const isBusy = talk?.isBusy === true || asking.isOpen || isStirring;
    if (isBusy && warned === "") return void cancel().catch((error) => note(thrownMessage(error)));
    if (warned === "leaving") return leave(INTERRUPTED);
    warned = "leaving";
    typed = "";
    page.print([style.warn("Ctrl-C again leaves; the session stays.")]);
  }

  function ended(end: TurnEnd): void {
    warned = "";
    inOrder(() => {
      updates.ended();
      const row = endRow(end, style);
      if (row !== undefined) updates.note([row]);
      renew();
    });
  }

  return {
    began(text) {
      inOrder(() => {
        updates.said(text);
        renew();
      });
    },
    ended,
    told(told: SessionTold) {
      const isAgents = told.update.type === "agent-text" || told.update.type === "tool";
      if (isAgents && !told.isHistory && talk?.isBusy === false) isStirring = true;
      inOrder(() => updates.told(told));
    },
    ask(question, context) {
      const { toolCallId } = question.context;
      if (toolCallId !== undefined) updates.asked(toolCallId);
      return asking.ask(question, context);
    },
    linked(state) {
      if (state.type === "lost") note("The connection is lost. Trying again …", style.warn);
      if (state.type === "connected" && state.isAgain) note("Connected again.", style.good);
      if (state.type === "closed" && state.error !== undefined) {
        note(`There is no connection any more: ${complaintOf(state.error)}`, style.bad);
        leave(1);
      }
    },
    controlled(isOwn) {
      const text = isOwn
        ? "You control this session now."
        : "Somebody else took control; you are watching now. /takeover takes it back.";
      note(text, isOwn ? style.good : style.warn);
    },
    note: (text) => note(text),
    opening(sessionId, isNew) {
      const what = isNew ? "New session" : "Session";
      note(`${what} ${oneLine(sessionId)}. /help says what there is; Ctrl-D leaves.`);
    },
    run(given, itsClient) {
      talk = given;
      client = itsClient;
      return new Promise((resolve) => {
        leave = resolve;
        screen = chatScreen(
          { input: process.stdin, output: process.stdout },
          {
            line,
            interrupt,
            end: () => leave(0),
            complete: (word) =>
              completions(
                word,
                updates.commands.map(({ name }) => name),
              ),
            isRemembered: () => !asking.isOpen,
          },
        );
        renew();
      });
    },
    close(last) {
      held = undefined;
      updates.ended();
      page.print(last === "" ? [] : wrapped(last, page.width).map(style.dim));
      screen?.close();
      screen = undefined;
    },
  };
}

function completions(word: string, theirs: readonly string[]): string[] {
  return [...OWN_COMMANDS, ...theirs]
    .map((name) => `/${name}`)
    .filter((name) => name.startsWith(word));
}

function endRow(end: TurnEnd, style: Style): string | undefined {
  switch (end.type) {
    case "lost":
      return style.warn("The connection was lost meanwhile; what comes of it is shown here.");
    case "failed":
      return style.bad(`✗ ${complaintOf(end.error)}`);
    case "done": {
      const { reason } = end.result;
      return reason === "end_turn"
        ? undefined
        : style.warn(ENDS.get(reason) ?? `Ended: ${oneLine(reason)}`);
    }
  }
}

const ENDS: ReadonlyMap<string, string> = new Map([
  ["cancelled", "Cancelled."],
  ["max_tokens", "Stopped: the answer was as long as it may be."],
  ["max_turn_requests", "Stopped: a limit of this turn was reached."],
  ["refusal", "The agent refused to go on."],
]);

export function complaintOf(error: unknown): string {
  const message = oneLine(thrownMessage(error));
  return error instanceof SpanlineError && error.code === "access_denied"
    ? `${message} (your key does not allow it)`
    : message;
}
