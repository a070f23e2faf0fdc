import {
  CONNECTION_GONE,
  TURN_CANCELLED,
  type HostContext,
  type PermissionQuestion,
  type PermissionReply,
} from "../host/index.ts";
import type { Style } from "../inspect/style.ts";
import { chatQuestion, type ChatQuestion } from "./chat-question.ts";
import type { ChatScreen } from "./chat-screen.ts";
import { foldedWords } from "./folded-words.ts";

/** Questions on a screen, one at a time. While one is open, what is typed is its answer and nothing else is printed. */
export interface ChatAsking {
  readonly isOpen: boolean;
  ask(question: PermissionQuestion, context: HostContext): Promise<PermissionReply | "leave">;
  /** Takes a line for the question that is open. */
  answer(line: string): void;
}

export interface AskingPlace {
  readonly screen: () => ChatScreen | undefined;
  readonly style: Style;
  /** Called before a question is put, and when it is over. */
  readonly hold: () => void;
  readonly release: () => void;
  /** Rows of the question itself, past what is held. */
  readonly print: (rows: readonly string[]) => void;
}

interface Open {
  readonly question: ChatQuestion;
  readonly settle: (reply: PermissionReply) => void;
}

export function chatAsking({ screen, style, hold, release, print }: AskingPlace): ChatAsking {
  let open: Open | undefined;
  let tail: Promise<unknown> = Promise.resolve();

  function put(rows: readonly string[]): void {
    const width = screen()?.width ?? 80;
    print(rows.flatMap((row) => foldedWords(row, width)));
  }

  async function askOne(
    asked: PermissionQuestion,
    signal: AbortSignal,
  ): Promise<PermissionReply | "leave"> {
    const place = screen();
    if (signal.aborted || place === undefined) return "leave";
    hold();
    const restore = await place.setAside();
    try {
      if (signal.aborted) return "leave";
      const question = chatQuestion(asked, style);
      put(["", ...question.rows]);
      place.prompt(question.prompt);
      return await new Promise<PermissionReply | "leave">((resolve) => {
        open = {
          question,
          settle(reply) {
            print([style.dim(`  ${replyText(asked, reply)}`)]);
            resolve(reply);
          },
        };
        signal.addEventListener("abort", () => {
          print([style.warn(`  ${whyNot(signal.reason)}`)]);
          resolve("leave");
        });
      });
    } finally {
      open = undefined;
      release();
      restore();
    }
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
      const { question, settle } = open;
      const reply = question.read(line);
      if (reply === undefined)
        return put([`  Please answer with one of these. ${question.prompt}`]);
      if (reply === "show") return put(question.whole ?? []);
      settle(reply);
    },
  };
}

function whyNot(reason: unknown): string {
  if (reason === TURN_CANCELLED) return "Not run: the turn is cancelled.";
  return reason === CONNECTION_GONE
    ? "The connection is lost; it is asked again on the next one."
    : "Somebody else answered, or it is no longer asked.";
}

function replyText({ options }: PermissionQuestion, reply: PermissionReply): string {
  if (typeof reply === "string") return reply === "deny" ? "Denied" : "Allowed";
  const chosen = "option" in reply ? options.find(({ id }) => id === reply.option) : undefined;
  return `You said: ${chosen?.name ?? "something else"}`;
}
