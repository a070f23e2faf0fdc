import {
  CONNECTION_GONE,
  TURN_CANCELLED,
  type HostContext,
  type PermissionRequest,
  type PermissionReply,
} from "../../host/index.ts";
import { toSingleLine, type Style } from "../../inspect/trace-style.ts";
import { createApprovalQuestion, type ApprovalQuestion } from "./approval-question.ts";
import type { ChatScreen } from "./chat-screen.ts";
import { wrapWords } from "../shared/terminal/wrap-words.ts";

/** Questions on a screen, one at a time. While one is open, what is typed is its answer and nothing else is printed. */
export interface ApprovalPrompts {
  readonly isOpen: boolean;
  requestDecision(
    question: PermissionRequest,
    context: HostContext,
  ): Promise<PermissionReply | "leave">;
  /** Takes a line for the question that is open. */
  answer(line: string): void;
  /** Somebody leaves: what is open stays so, and nothing more is said of it. */
  close(): void;
}

export interface ApprovalPromptsOptions {
  readonly screen: ChatScreen;
  readonly style: Style;
  /** Whether somebody else is asked now. */
  readonly hasLostControl: () => boolean;
  /** Called before a question is put, and when it is over. */
  readonly hold: () => void;
  readonly release: () => void;
}

type Reply = PermissionReply | "leave";

interface OpenPrompt {
  readonly question: ApprovalQuestion;
  readonly print: (rows: readonly string[]) => void;
  readonly settle: (reply: PermissionReply) => void;
}

export function createApprovalPrompts(options: ApprovalPromptsOptions): ApprovalPrompts {
  const { screen, style, hasLostControl, hold, release } = options;
  let open: OpenPrompt | undefined;
  let isClosed = false;
  let tail: Promise<unknown> = Promise.resolve();

  async function promptNext(request: PermissionRequest, signal: AbortSignal): Promise<Reply> {
    if (signal.aborted) return "leave";
    hold();
    const restore = await screen.suspendInput();
    try {
      return signal.aborted ? "leave" : await show(request, signal);
    } finally {
      open = undefined;
      release();
      restore();
    }
  }

  function show(request: PermissionRequest, signal: AbortSignal): Promise<Reply> {
    const question = createApprovalQuestion(request, style);
    const print = (rows: readonly string[]): void =>
      screen.print(rows.flatMap((row) => wrapWords(row, screen.width)));
    print(["", ...question.rows]);
    screen.setPrompt(question.prompt);
    return new Promise((resolve) => {
      open = {
        question,
        print,
        settle(reply) {
          print([style.dim(`  ${formatReply(request, reply)}`)]);
          resolve(reply);
        },
      };
      signal.addEventListener("abort", () => {
        // That the turn is cancelled is said where it ends.
        const isReportedElsewhere = isClosed || signal.reason === TURN_CANCELLED;
        if (!isReportedElsewhere)
          print([style.warn(`  ${formatWithdrawal(signal.reason, hasLostControl())}`)]);
        resolve("leave");
      });
    });
  }

  return {
    get isOpen() {
      return open !== undefined;
    },
    requestDecision(question, { signal }) {
      const reply = tail.then(() => promptNext(question, signal));
      tail = reply.catch(() => undefined);
      return reply;
    },
    answer(line) {
      if (open === undefined) return;
      const { question, print, settle } = open;
      const reply = question.read(line);
      if (reply === undefined)
        return print([`  Please answer with one of these. ${question.prompt}`]);
      if (reply === "show") return print(question.fullRows ?? []);
      settle(reply);
    },
    close() {
      isClosed = true;
    },
  };
}

function formatWithdrawal(reason: unknown, hasLostControl: boolean): string {
  if (reason === CONNECTION_GONE)
    return "The connection is lost; it is asked again on the next one.";
  return hasLostControl
    ? "Not answered: another client has taken over, and is asked now."
    : "Somebody else answered, or it is no longer asked.";
}

function formatReply({ options }: PermissionRequest, reply: PermissionReply): string {
  if (typeof reply === "string") return reply === "deny" ? "Denied" : "Allowed";
  const chosen = "option" in reply ? options.find(({ id }) => id === reply.option) : undefined;
  return `You said: ${toSingleLine(chosen?.name ?? "something else")}`;
}
