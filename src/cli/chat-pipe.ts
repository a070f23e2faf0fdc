import { createInterface } from "node:readline";
import { thrownMessage } from "../domain/errors.ts";
import type { SeenExtension, SessionTold } from "../host/index.ts";
import { oneLine, PLAIN, printable } from "../inspect/style.ts";
import type { Terminal } from "../platform/terminal.ts";
import { toolCards } from "./chat-cards.ts";
import { ownCommandIn } from "./chat-commands.ts";
import { complaintOf, endNote, toldEnd } from "./chat-ends.ts";
import type { ChatFace } from "./chat-face.ts";
import type { ChatLink } from "./chat-link.ts";
import { chatLines } from "./chat-lines.ts";
import { chatOthers, othersNote } from "./chat-others.ts";
import type { ChatTalk, TurnEnd } from "./chat-talk.ts";

export interface PipeFaceOptions {
  readonly terminal: Terminal;
  /** Every update as a line of JSON. */
  readonly isJson: boolean;
  /** Shows what was said before, and what others do. */
  readonly isObserver: boolean;
  readonly wholeBy: (sessionId: string) => string | undefined;
  readonly link: ChatLink;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** A chat with a program: what the agent says goes to standard output, all else to standard error. */
export function pipeFace(options: PipeFaceOptions): ChatFace {
  const { terminal, isJson, isObserver, wholeBy, link, signal } = options;
  let sessionId = "";
  const cards = toolCards({ style: PLAIN, width: () => WIDTH, wholeBy: () => wholeBy(sessionId) });
  const others = chatOthers();
  let exitCode = 0;
  let isLineOpen = false;
  let message: string | null = null;
  /** Nobody reads it any more. */
  let isGone = false;
  let leave = (): void => {};
  const left = new Promise<void>((resolve) => (leave = resolve));
  let tail: Promise<void> = Promise.resolve();
  const said = prompts();
  /** Read before there was somebody to say it to. */
  let first: IteratorResult<string, void> | undefined;

  function write(text: string): void {
    tail = written(tail, text);
    tail.catch(() => undefined);
  }

  async function written(before: Promise<void>, text: string): Promise<void> {
    await before;
    if (!isGone) isGone = !(await terminal.write(text));
    if (isGone) leave();
  }

  async function noted(before: Promise<void>, text: string): Promise<void> {
    await before;
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
    tail = noted(tail, text);
  }

  function say(text: string, id: string | null): void {
    if (text === "") return;
    if (message !== null && id !== message) {
      endLine();
      write("\n");
    }
    message = id ?? "";
    isLineOpen = !text.endsWith("\n");
    write(terminal.isWatched ? printable(text) : text);
  }

  function told({ update, ...of }: SessionTold): void {
    if (isJson) return json({ type: "update", ...of, update });
    // Whoever asks something wants its answer alone.
    if (of.isHistory && !isObserver) return;
    switch (update.type) {
      case "agent-text":
        return say(update.visibleDelta ?? update.text, update.messageId);
      case "user-text":
        return note(`› ${printable(update.text)}`);
      case "tool":
        for (const row of cards.told(update)) note(row);
        return;
      case "info": {
        const end = update.turn === undefined ? undefined : toldEnd(update.turn, undefined);
        if (end !== undefined && isObserver) endTurn(end);
        return;
      }
      case "extension":
        return watched(update, of.isHistory);
      default:
        return;
    }
  }

  /** What others are asked, and that they leave, for who sees only what is said. */
  function watched(update: SeenExtension, isHistory: boolean): void {
    const { length: before } = others.questions;
    const change = others.told(update);
    if (!isObserver) return;
    if (change !== undefined && !isHistory) note(othersNote(change));
    for (const about of others.questions.slice(before)) note(`? ${oneLine(about)}`);
  }

  function endTurn(end: TurnEnd): void {
    message = null;
    endLine();
    cards.clear();
    const said = end.type === "lost" ? LOST : endNote(end)?.text;
    if (said !== undefined) note(said);
  }

  function ended(end: TurnEnd): void {
    if (end.type !== "done" || end.result.reason !== "end_turn") exitCode = 1;
    if (isJson && end.type === "done") json({ type: "end", sessionId, ...end.result });
    if (isJson && end.type !== "done") {
      json({ type: "end", sessionId, error: end.type === "lost" ? LOST : complaintOf(end.error) });
    }
    endTurn(end);
  }

  function take(talk: ChatTalk, text: string): boolean {
    const command = ownCommandIn(text);
    if (command === "exit") return false;
    if (command !== undefined) note(`/${command} needs a terminal; it was not sent`);
    else if (talk.role === "observer") {
      exitCode = 1;
      note("This chat only watches; nothing was said to the agent");
    } else talk.say(text);
    return true;
  }

  async function* prompts(): AsyncGenerator<string, void, undefined> {
    const lines = chatLines();
    for await (const line of createInterface({ input: process.stdin, signal })) {
      const text = lines.add(line) ?? "";
      if (text.trim() !== "") yield text;
    }
    const rest = lines.begun.trimEnd();
    if (rest !== "") yield rest;
  }

  async function read(talk: ChatTalk): Promise<void> {
    let next = first ?? (await said.next());
    for (; next.done !== true; next = await said.next()) {
      if (!take(talk, next.value)) return void (await said.return());
      await talk.idle();
    }
  }

  return {
    told,
    began: () => {},
    ended,
    ask({ approval }) {
      exitCode = 1;
      note(`${oneLine(approval.action)}: denied, since there is no terminal to ask on`);
      return { deny: "There is nobody to ask" };
    },
    linked(state) {
      const said = link.heard(state);
      if (said === undefined) return;
      note(said.text);
      if (!said.isEnd) return;
      exitCode = 1;
      leave();
    },
    controlled(isOwn) {
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
    opening(opened) {
      sessionId = opened;
      if (isJson) json({ type: "session", sessionId: opened });
    },
    async run(talk, client) {
      const stop = (): void => {
        if (talk.role !== "observer") client.cancel(talk.sessionId).catch(() => undefined);
      };
      signal.addEventListener("abort", stop);
      const work = isObserver ? new Promise<void>(() => {}) : read(talk);
      await Promise.race([work, left]).catch((error: unknown) => note(thrownMessage(error)));
      await tail;
      return exitCode;
    },
    close(last) {
      if (last !== "" && !isJson) terminal.note(`${last}\n`);
    },
  };
}

const WIDTH = 100;
const LOST =
  "The connection was lost before the answer was whole; `spanline chat --session` shows what came of it";
