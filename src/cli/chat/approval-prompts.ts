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

/**
 * Shows approval requests on a screen, in sequence. While a question is open, typed lines are its answer and other
 * output waits.
 */
export interface ApprovalPrompts {
  readonly isOpen: boolean;
  requestDecision(
    question: PermissionRequest,
    context: HostContext,
  ): Promise<PermissionReply | "leave">;
  /** Handles a typed line as the answer to the open question. */
  answer(line: string): void;
  /** Called when the user leaves. The open approval stays open, without further output. */
  close(): void;
}

export interface ApprovalPromptsOptions {
  readonly screen: ChatScreen;
  readonly style: Style;
  /** True if another client is asked now. */
  readonly hasLostControl: () => boolean;
  /** `hold` is called before a question is shown, `release` after it is closed. */
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
        // A cancelled turn is reported at its end.
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
    return "The connection is lost; the question is asked again after reconnecting.";
  return hasLostControl
    ? "Not answered: another client has taken control and is asked now."
    : "The request is closed: another client decided, or the request expired or was withdrawn.";
}

function formatReply({ options }: PermissionRequest, reply: PermissionReply): string {
  if (typeof reply === "string") return reply === "deny" ? "Denied" : "Allowed";
  const chosen = "option" in reply ? options.find(({ id }) => id === reply.option) : undefined;
  return `You chose: ${toSingleLine(chosen?.name ?? "another option")}`;
}
