import type { JsonValue } from "../../data/json.ts";
import {
  CONNECTION_GONE,
  TURN_CANCELLED,
  type HostContext,
  type PermissionRequest,
  type PermissionReply,
  type QuestionReply,
  type QuestionRequest,
} from "../../host/index.ts";
import { toSingleLine, type Style } from "../../inspect/trace-style.ts";
import { createApprovalQuestion, type ScreenQuestion } from "./approval-question.ts";
import type { ChatScreen } from "./chat-screen.ts";
import { createFieldQuestion, toQuestionReply, type FieldReply } from "./question-form.ts";
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
  /** Asks for the fields of a question, one after the other. */
  requestAnswer(question: QuestionRequest, context: HostContext): Promise<QuestionReply | "leave">;
  /** Handles a typed line as the answer to the open question. */
  answer(line: string): void;
  /** True if the line is a valid answer to the open question. */
  isAnswer(line: string): boolean;
  /**
   * True if the line answers the last question, which was closed without a decision of this user. Only the first line
   * with text after such a question can be a late answer.
   */
  consumeLateAnswer(line: string): boolean;
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
  readonly question: ScreenQuestion<unknown>;
  readonly answer: (line: string) => void;
}

/** A question to show, and the text of a reply to it. */
interface ShownQuestion<Answer> {
  readonly question: ScreenQuestion<Answer>;
  readonly formatReply: (reply: Answer) => string;
}

export function createApprovalPrompts(options: ApprovalPromptsOptions): ApprovalPrompts {
  return new ScreenPrompts(options);
}

class ScreenPrompts implements ApprovalPrompts {
  readonly #options: ApprovalPromptsOptions;
  #open: OpenPrompt | undefined;
  /** The last question, if it was closed without a decision of this user. */
  #withdrawnQuestion: ScreenQuestion<unknown> | undefined;
  #isClosed = false;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(options: ApprovalPromptsOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  requestDecision(request: PermissionRequest, { signal }: HostContext): Promise<Reply> {
    const question = createApprovalQuestion(request, this.#options.style);
    const formatReply = (reply: PermissionReply): string => formatDecision(request, reply);
    return this.#enqueue(() =>
      this.#promptNext(() => this.#show({ question, formatReply }, signal), signal),
    );
  }

  requestAnswer(
    request: QuestionRequest,
    { signal }: HostContext,
  ): Promise<QuestionReply | "leave"> {
    return this.#enqueue(() => this.#promptNext(() => this.#askFields(request, signal), signal));
  }

  /** Runs a task when the questions before it are closed. */
  #enqueue<Answer>(task: () => Promise<Answer>): Promise<Answer> {
    const reply = this.#tail.then(task);
    this.#tail = reply.catch(() => undefined);
    return reply;
  }

  async #askFields(
    request: QuestionRequest,
    signal: AbortSignal,
  ): Promise<QuestionReply | "leave"> {
    const values: (JsonValue | undefined)[] = [];
    for (const field of request.fields) {
      const question = createFieldQuestion(request, field, this.#options.style);
      const reply = await this.#show({ question, formatReply: formatFieldReply }, signal);
      if (reply === "leave" || reply === "decline") return reply;
      values.push(reply.value);
    }
    return toQuestionReply(request, values);
  }

  async #promptNext<Answer>(
    show: () => Promise<Answer | "leave">,
    signal: AbortSignal,
  ): Promise<Answer | "leave"> {
    if (signal.aborted) return "leave";
    const { screen, hold, release } = this.#options;
    hold();
    const restore = await screen.suspendInput();
    try {
      return signal.aborted ? "leave" : await show();
    } finally {
      this.#open = undefined;
      release();
      restore();
    }
  }

  #show<Answer>(
    { question, formatReply }: ShownQuestion<Answer>,
    signal: AbortSignal,
  ): Promise<Answer | "leave"> {
    const { screen, style } = this.#options;
    this.#print(["", ...question.rows]);
    screen.setPrompt(question.prompt);
    this.#withdrawnQuestion = undefined;
    return new Promise((resolve) => {
      const answer = (line: string): void => {
        const reply = question.read(line);
        if (reply === undefined)
          return this.#print([`  ${question.retryText ?? RETRY_TEXT} ${question.prompt}`]);
        if (reply === "show") return this.#print(question.fullRows ?? []);
        this.#print([style.dim(`  ${formatReply(reply)}`)]);
        resolve(reply);
      };
      this.#open = { question, answer };
      signal.addEventListener("abort", () => {
        this.#withdraw(question, signal.reason);
        resolve("leave");
      });
    });
  }

  #withdraw(question: ScreenQuestion<unknown>, reason: unknown): void {
    const { style, hasLostControl } = this.#options;
    if (this.#open?.question === question) this.#withdrawnQuestion = question;
    // A cancelled turn is reported at its end.
    if (this.#isClosed || reason === TURN_CANCELLED) return;
    this.#print([style.warn(`  ${formatWithdrawal(reason, hasLostControl())}`)]);
  }

  answer(line: string): void {
    this.#open?.answer(line);
  }

  isAnswer(line: string): boolean {
    return this.#open?.question.read(line) !== undefined;
  }

  consumeLateAnswer(line: string): boolean {
    if (line.trim() === "") return false;
    const question = this.#withdrawnQuestion;
    this.#withdrawnQuestion = undefined;
    return question?.read(line) !== undefined;
  }

  close(): void {
    this.#isClosed = true;
  }

  #print(rows: readonly string[]): void {
    const { screen } = this.#options;
    screen.print(rows.flatMap((row) => wrapWords(row, screen.width)));
  }
}

const RETRY_TEXT = "Please answer with one of these.";

function formatWithdrawal(reason: unknown, hasLostControl: boolean): string {
  if (reason === CONNECTION_GONE)
    return "The connection is lost; the question is asked again after reconnecting.";
  return hasLostControl
    ? "Not answered: another client has taken control and is asked now."
    : "The request is closed: another client decided, or the request expired or was withdrawn.";
}

function formatFieldReply(reply: FieldReply): string {
  return reply === "decline" ? "Declined" : "Answered";
}

function formatDecision({ options }: PermissionRequest, reply: PermissionReply): string {
  if (typeof reply === "string") return reply === "deny" ? "Denied" : "Allowed";
  const chosen = "option" in reply ? options.find(({ id }) => id === reply.option) : undefined;
  return `You chose: ${toSingleLine(chosen?.name ?? "another option")}`;
}
