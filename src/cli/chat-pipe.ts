import { createInterface } from "node:readline";
import { thrownMessage } from "../domain/errors.ts";
import type { SessionTold } from "../host/index.ts";
import { oneLine, PLAIN, printable } from "../inspect/style.ts";
import type { Terminal } from "../platform/terminal.ts";
import { toolCards } from "./chat-cards.ts";
import { ownCommandIn } from "./chat-commands.ts";
import type { ChatFace } from "./chat-face.ts";
import type { ChatTalk, TurnEnd } from "./chat-talk.ts";
import { complaintOf } from "./chat-terminal.ts";

export interface PipeFaceOptions {
  readonly terminal: Terminal;
  /** Every update as a line of JSON. */
  readonly isJson: boolean;
  readonly wholeBy: (sessionId: string) => string | undefined;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** A chat with a program: what the agent says goes to standard output, all else to standard error. */
export function pipeFace({ terminal, isJson, wholeBy, signal }: PipeFaceOptions): ChatFace {
  const cards = toolCards({ style: PLAIN, width: () => WIDTH, wholeBy: () => wholeBy(sessionId) });
  let sessionId = "";
  let exitCode = 0;
  let isLineOpen = false;
  let message: string | null = null;
  let isGone = false;
  let tail: Promise<void> = Promise.resolve();

  function write(text: string): void {
    tail = written(tail, text);
    tail.catch(() => undefined);
  }

  async function written(before: Promise<void>, text: string): Promise<void> {
    await before;
    if (!isGone) isGone = !(await terminal.write(text));
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
    tail = tail.then(() => void terminal.note(`${text}\n`));
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
    sessionId = of.sessionId;
    switch (update.type) {
      case "agent-text":
        return say(update.visibleDelta ?? update.text, update.messageId);
      case "user-text":
        return note(`› ${printable(update.text)}`);
      case "tool":
        for (const row of cards.told(update)) note(row);
        return;
      default:
        return;
    }
  }

  function ended(end: TurnEnd): void {
    message = null;
    endLine();
    cards.clear();
    if (end.type === "done") {
      const { result } = end;
      if (isJson) json({ type: "end", ...result });
      else if (result.reason !== "end_turn") note(`Ended: ${oneLine(result.reason)}`);
      if (result.reason !== "end_turn") exitCode = 1;
      return;
    }
    exitCode = 1;
    const error = end.type === "lost" ? LOST : complaintOf(end.error);
    if (isJson) json({ type: "end", error });
    note(error);
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

  async function read(talk: ChatTalk): Promise<void> {
    let typed = "";
    for await (const line of createInterface({ input: process.stdin, signal })) {
      if (/(?<!\\)\\$/.test(line)) {
        typed += `${line.slice(0, -1)}\n`;
        continue;
      }
      const text = typed + line;
      typed = "";
      if (text.trim() === "") continue;
      if (!take(talk, text)) return;
      await talk.idle();
    }
    if (typed.trim() !== "") take(talk, typed.trimEnd());
    await talk.idle();
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
      if (state.type === "lost") note("The connection is lost. Trying again …");
      if (state.type === "connected" && state.isAgain) note("Connected again.");
    },
    controlled(isOwn) {
      if (!isOwn) note("Somebody else took control of the session");
    },
    note,
    opening(opened) {
      if (isJson) json({ type: "session", sessionId: opened });
    },
    async run(talk, client) {
      const stop = (): void => void client.cancel(talk.sessionId).catch(() => undefined);
      signal.addEventListener("abort", stop);
      if (talk.role === "observer") await untilAborted(signal);
      else await read(talk).catch((error: unknown) => note(thrownMessage(error)));
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

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve());
  });
}
