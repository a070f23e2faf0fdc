import {
  CONNECTION_GONE,
  TURN_CANCELLED,
  type HostContext,
  type PermissionQuestion,
  type PermissionReply,
} from "../host/index.ts";
import { oneLine, type Style } from "../inspect/style.ts";
import { chatQuestion, type ChatQuestion } from "./chat-question.ts";
import type { ChatScreen } from "./chat-screen.ts";
import { foldedWords } from "./folded-words.ts";

/** Questions on a screen, one at a time. While one is open, what is typed is its answer and nothing else is printed. */
export interface ChatAsking {
  readonly isOpen: boolean;
  ask(question: PermissionQuestion, context: HostContext): Promise<PermissionReply | "leave">;
  /** Takes a line for the question that is open. */
  answer(line: string): void;
  /** Somebody leaves: what is open stays so, and nothing more is said of it. */
  close(): void;
}

export interface AskingPlace {
  readonly screen: ChatScreen;
  readonly style: Style;
  /** Whether somebody else is asked now. */
  readonly isTakenOver: () => boolean;
  /** Called before a question is put, and when it is over. */
  readonly hold: () => void;
  readonly release: () => void;
}

type Reply = PermissionReply | "leave";

interface Open {
  readonly question: ChatQuestion;
  readonly print: (rows: readonly string[]) => void;
  readonly settle: (reply: PermissionReply) => void;
}

export function chatAsking(place: AskingPlace): ChatAsking {
  const { screen, style, isTakenOver, hold, release } = place;
  let open: Open | undefined;
  let isClosed = false;
  let tail: Promise<unknown> = Promise.resolve();

  async function askOne(asked: PermissionQuestion, signal: AbortSignal): Promise<Reply> {
    if (signal.aborted) return "leave";
    hold();
    const restore = await screen.setAside();
    try {
      return signal.aborted ? "leave" : await put(asked, signal);
    } finally {
      open = undefined;
      release();
      restore();
    }
  }

  function put(asked: PermissionQuestion, signal: AbortSignal): Promise<Reply> {
    const question = chatQuestion(asked, style);
    const print = (rows: readonly string[]): void =>
      screen.print(rows.flatMap((row) => foldedWords(row, screen.width)));
    print(["", ...question.rows]);
    screen.prompt(question.prompt);
    return new Promise((resolve) => {
      open = {
        question,
        print,
        settle(reply) {
          print([style.dim(`  ${replyText(asked, reply)}`)]);
          resolve(reply);
        },
      };
      signal.addEventListener("abort", () => {
        // That the turn is cancelled is said where it ends.
        const isSaid = isClosed || signal.reason === TURN_CANCELLED;
        if (!isSaid) print([style.warn(`  ${whyNot(signal.reason, isTakenOver())}`)]);
        resolve("leave");
      });
    });
  }

  return {
    get isOpen() {
      return open !== undefined;
    },
    ask(question, { signal }) {
      const reply = tail.then(() => askOne(question, signal));
      tail = reply.catch(() => undefined);
      return reply;
    },
    answer(line) {
      if (open === undefined) return;
      const { question, print, settle } = open;
      const reply = question.read(line);
      if (reply === undefined)
        return print([`  Please answer with one of these. ${question.prompt}`]);
      if (reply === "show") return print(question.whole ?? []);
      settle(reply);
    },
    close() {
      isClosed = true;
    },
  };
}

function whyNot(reason: unknown, isTakenOver: boolean): string {
  if (reason === CONNECTION_GONE)
    return "The connection is lost; it is asked again on the next one.";
  return isTakenOver
    ? "Not answered: another client has taken over, and is asked now."
    : "Somebody else answered, or it is no longer asked.";
}

function replyText({ options }: PermissionQuestion, reply: PermissionReply): string {
  if (typeof reply === "string") return reply === "deny" ? "Denied" : "Allowed";
  const chosen = "option" in reply ? options.find(({ id }) => id === reply.option) : undefined;
  return `You said: ${oneLine(chosen?.name ?? "something else")}`;
}
