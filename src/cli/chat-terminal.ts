import type { Client } from "../host/index.ts";
import { oneLine } from "../inspect/style.ts";
import {
  completions,
  helpRows,
  ownCommandIn,
  sessionRows,
  type OwnCommand,
} from "./chat-commands.ts";
import { complaintOf, endNote, toldEnd } from "./chat-ends.ts";
import type { ChatFace } from "./chat-face.ts";
import type { ChatLink } from "./chat-link.ts";
import { chatLines } from "./chat-lines.ts";
import { chatOthers, othersNote } from "./chat-others.ts";
import { chatScreen } from "./chat-screen.ts";
import type { ChatTalk, TurnEnd } from "./chat-talk.ts";
import { chatView, type ViewOptions } from "./chat-view.ts";
import { INTERRUPTED } from "./interruption.ts";

export interface TerminalFaceOptions extends Pick<ViewOptions, "hasColours" | "wholeBy"> {
  readonly link: ChatLink;
}

/** A chat with a person at a terminal. */
export function terminalFace({ link, ...options }: TerminalFaceOptions): ChatFace {
  let session: string | undefined;
  let talk: ChatTalk | undefined;
  let client: Client | undefined;
  /** The exit code of a person who left after the first question, but before the session was open. */
  let earlyExit: number | undefined;
  // Until `run` replaces this function, leaving ends the process as a signal does. A question means that the session is about to
  // open: `run` then leaves in order.
  let leave = (exitCode: number): void => {
    if (asking.isOpen) earlyExit = exitCode;
    else process.kill(process.pid, "SIGINT");
  };
  /** What was typed before there was somebody to say it to. */
  const early: string[] = [];
  let warned: "" | "leaving" | "cancelling" = "";
  let hasLeft = false;
  /** What was typed by who only watches: it can be said after a takeover. */
  let unsaid = "";
  const lines = chatLines();
  const others = chatOthers();
  const screen = chatScreen(
    { input: process.stdin, output: process.stdout },
    {
      line,
      interrupt,
      end: () => leave(0),
      complete: (word) => completions(word, updates.commands),
      isRemembered: () => !asking.isOpen,
    },
  );
  const view = chatView({
    ...options,
    screen,
    status: () => ({
      sessionId: session,
      talk,
      isCancelling: warned === "cancelling",
      isContinued: lines.begun !== "",
      others,
      isLost: link.isLost,
    }),
  });
  const { style, updates, asking, note } = view;
  view.renew();

  function line(text: string): void {
    warned = "";
    if (talk === undefined) return void early.push(text);
    if (asking.isOpen) return asking.answer(text);
    const whole = lines.add(text);
    if (whole !== undefined && whole.trim() !== "") take(whole);
    view.renew();
  }

  function take(text: string): void {
    const command = ownCommandIn(text);
    if (command !== undefined) {
      updates.note([`${style.strong("›")} ${oneLine(text)}`]);
      perform(command).catch((error: unknown) => note(complaintOf(error), style.bad));
    } else if (talk?.role === "observer") {
      unsaid = text;
      note(`Not said: ${text}`);
      note("You are watching. /takeover takes control, then you can say it.", style.warn);
    } else {
      talk?.say(text);
      if (link.isLost) note("It is sent when there is a connection again.");
    }
  }

  async function perform(command: OwnCommand): Promise<void> {
    if (talk === undefined || client === undefined) return;
    const place = { style, width: view.width };
    switch (command) {
      case "help":
        return updates.note(helpRows(updates.commands, place));
      case "exit":
        return leave(0);
      case "cancel":
        if (talk.role === "observer" && !talk.isPrompting) return note(WATCHING, style.warn);
        return cancel(talk);
      case "takeover":
        if (talk.role === "controller") return note("You control this session already.");
        await talk.takeOver();
        screen.offer(unsaid);
        unsaid = "";
        return;
      case "sessions": {
        const { sessions } = await client.listSessions();
        return updates.note(sessionRows(sessions, talk.sessionId, place));
      }
    }
  }

  function ended(end: TurnEnd): void {
    if (hasLeft) return;
    warned = "";
    view.inOrder(() => {
      updates.ended();
      const said = endNote(end);
      if (said !== undefined) note(said.text, style[said.paint]);
      view.renew();
    });
  }

  async function cancel(own: ChatTalk): Promise<void> {
    const isOthers = own.isBusy && !mayEnd(own);
    takeBack(own);
    if (isOthers) return note("The turn is somebody else's, and goes on.", style.warn);
    if (!own.isBusy && !asking.isOpen) return note("Nothing runs.", style.warn);
    warned = "cancelling";
    view.renew();
    await own.cancel();
  }

  function takeBack(own: ChatTalk): void {
    const taken = own.takeBack();
    if (taken.length > 0) note(`Not sent: ${taken.map(oneLine).join(" · ")}`, style.warn);
  }

  function interrupt(): void {
    if (talk === undefined) return leave(INTERRUPTED);
    // Whoever only watches leaves, and ends nothing of what others do.
    const isRunning = talk.role !== "observer" && (talk.isBusy || asking.isOpen);
    const isBusy = mayEnd(talk) ? isRunning : talk.queued.length > 0;
    if (isBusy && warned === "") {
      return void cancel(talk).catch((error: unknown) => note(complaintOf(error), style.bad));
    }
    if (warned === "leaving") return leave(INTERRUPTED);
    warned = "leaving";
    lines.clear();
    view.print([style.warn("Ctrl-C again leaves; the session stays.")]);
  }

  return {
    opening(sessionId, isNew) {
      session = sessionId;
      const what = isNew ? "New session" : "Session";
      note(`${what} ${oneLine(sessionId)}. /help says what there is; Ctrl-D leaves.`);
    },
    began(text) {
      view.inOrder(() => {
        updates.said(text);
        view.renew();
      });
    },
    ended,
    told(told) {
      const { update, isHistory } = told;
      const change = others.told(update);
      view.inOrder(() => updates.told(told));
      if (change !== undefined && !isHistory && talk?.role === "observer") {
        note(othersNote(change), style.warn);
      }
      const turn = update.type === "info" ? update.turn : undefined;
      const end = turn === undefined ? undefined : toldEnd(turn, talk);
      if (end !== undefined) ended(end);
    },
    ask(question, context) {
      const { toolCallId } = question.context;
      if (toolCallId !== undefined) updates.asked(toolCallId);
      return asking.ask(question, context);
    },
    linked(state) {
      const said = link.heard(state);
      if (said === undefined) return;
      note(said.text, style[said.paint]);
      view.renew();
      if (said.isEnd) leave(1);
    },
    controlled(isOwn) {
      const text = isOwn
        ? "You control this session now."
        : "Somebody else took control; you are watching now. /takeover takes it back.";
      note(text, isOwn ? style.good : style.warn);
      if (!isOwn && talk !== undefined) takeBack(talk);
    },
    note: (text) => note(text),
    hasPrompt: async () => true,
    run(given, itsClient) {
      talk = given;
      client = itsClient;
      return new Promise((resolve) => {
        leave = resolve;
        for (const text of early.splice(0)) line(text);
        view.renew();
        if (earlyExit !== undefined) leave(earlyExit);
      });
    },
    close(last) {
      hasLeft = true;
      view.close(last);
    },
  };
}

/** Who controls ends any turn, and everybody else one that is its own. */
function mayEnd({ role, isPrompting }: ChatTalk): boolean {
  return role === "controller" || isPrompting;
}

const WATCHING =
  "You are watching, and end nobody's turn. /takeover takes control, then you can cancel it.";
