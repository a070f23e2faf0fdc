import { toSingleLine, PLAIN_STYLE, type Style } from "../../inspect/trace-style.ts";
import { systemClock } from "../../platform/clock.ts";
import { createApprovalPrompts, type ApprovalPrompts } from "./approval-prompts.ts";
import type { ChatParticipants } from "./participants.ts";
import type { ChatScreen } from "./chat-screen.ts";
import type { ChatSession } from "./session.ts";
import type { SteeredMessage } from "./steering.ts";
import { createChatUpdates, type ChatUpdates } from "./updates/chat-updates.ts";
import { createMarkStyle, type Paint } from "../markdown/mark-style.ts";
import { wrapText } from "../markdown/row-layout.ts";
import { cutToWidth } from "../markdown/text-width.ts";
import { createColorStyle, createColorMarks } from "../shared/terminal/color-style.ts";

export interface ViewOptions {
  readonly screen: ChatScreen;
  readonly hasColours: boolean;
  /** Returns the command that shows a session in full. Undefined for a remote bridge. */
  readonly formatShowCommand: (sessionId: string) => string | undefined;
  /** The current state, for the rows above the input. */
  readonly getStatus: () => ViewStatus;
}

export interface ViewStatus {
  readonly sessionId: string | undefined;
  readonly session: ChatSession | undefined;
  readonly isCancelling: boolean;
  /** True while a line continued with a backslash is typed. */
  readonly isContinued: boolean;
  readonly participants: Pick<ChatParticipants, "controller" | "questions">;
  /** True while the connection is lost. */
  readonly isLost: boolean;
}

/** The visible part of a chat. */
export interface ChatView {
  readonly style: Style;
  readonly width: number;
  readonly updates: ChatUpdates;
  readonly approvals: ApprovalPrompts;
  /** Runs immediately, or after the open question is closed. */
  runInOrder(run: () => void): void;
  readonly note: (text: string, paint?: Paint) => void;
  /** Prints the reply to a command immediately, even while a question is open. */
  readonly reply: (content: string | readonly string[], paint?: Paint) => void;
  /** Prints immediately, even while a question is open. */
  print(rows: readonly string[]): void;
  /** Redraws the prompt and the status rows. */
  refresh(): void;
  close(last: string): void;
}

export function createChatView(options: ViewOptions): ChatView {
  const { screen, hasColours, getStatus } = options;
  const style: Style = hasColours ? createColorStyle() : PLAIN_STYLE;
  const heldOutput = createHeldOutput();
  const updates = createViewUpdates(options, style);
  const approvals = createApprovalPrompts({
    screen,
    style,
    hasLostControl: () => getStatus().session?.role === "observer",
    hold() {
      heldOutput.hold();
      screen.show([]);
    },
    release() {
      heldOutput.release();
      refresh();
    },
  });

  function refresh(): void {
    if (heldOutput.isHeld) return;
    screen.setPrompt(style.strong(getStatus().isContinued ? "… " : "› "));
    updates.refresh();
  }

  const wrap = (text: string, paint: Paint): readonly string[] =>
    text
      .split("\n")
      .flatMap((line) => wrapText(toSingleLine(line), screen.width))
      .map(paint);

  return {
    style,
    get width() {
      return screen.width;
    },
    updates,
    approvals,
    runInOrder: heldOutput.runInOrder,
    note(text, paint = style.dim) {
      heldOutput.runInOrder(() => updates.note(wrap(text, paint)));
    },
    reply(content, paint = style.dim) {
      const rows = typeof content === "string" ? wrap(content, paint) : content;
      // The rows below the conversation are hidden while a question is open.
      if (heldOutput.isHeld) screen.print(rows);
      else updates.note(rows);
    },
    print: (rows) => screen.print(rows),
    refresh,
    close(last) {
      heldOutput.discard();
      approvals.close();
      updates.endTurn();
      screen.print(last === "" ? [] : wrapText(last, screen.width).map(style.dim));
      screen.close();
    },
  };
}

function createViewUpdates(
  { screen, hasColours, formatShowCommand, getStatus }: ViewOptions,
  style: Style,
): ChatUpdates {
  const marks = hasColours
    ? createMarkStyle(style, createColorMarks())
    : createMarkStyle(PLAIN_STYLE, null);
  return createChatUpdates({
    page: screen,
    style,
    marks,
    formatShowCommand() {
      const { sessionId } = getStatus();
      return sessionId === undefined ? undefined : formatShowCommand(sessionId);
    },
    describeWait() {
      const approver = describeApprover(getStatus());
      return approver === undefined ? undefined : `approval${approver}`;
    },
    clock: systemClock,
    footerRows: () => [
      ...formatQuestions(getStatus())
        .flatMap((row) => wrapText(row, screen.width))
        .map(style.dim),
      ...formatStatus(getStatus()).map((row) => style.dim(cutToWidth(row, screen.width))),
    ],
  });
}

/** Output that waits while a question is open. */
interface HeldOutput {
  readonly isHeld: boolean;
  hold(): void;
  /** Runs the output that waits, in order. */
  release(): void;
  readonly runInOrder: (run: () => void) => void;
  /** Ends the wait without the output. */
  discard(): void;
}

function createHeldOutput(): HeldOutput {
  /** Updates that arrived while a question is open. Undefined without a question. */
  let heldUpdates: (() => void)[] | undefined;
  return {
    get isHeld() {
      return heldUpdates !== undefined;
    },
    hold() {
      heldUpdates ??= [];
    },
    release() {
      const due = heldUpdates ?? [];
      heldUpdates = undefined;
      for (const run of due) run();
    },
    runInOrder(run) {
      if (heldUpdates === undefined) run();
      else heldUpdates.push(run);
    },
    discard() {
      heldUpdates = undefined;
    },
  };
}

/** Names the approver of pending requests. Undefined if this client itself is asked and sees the question instead. */
function describeApprover({ session, participants }: ViewStatus): string | undefined {
  switch (session?.role) {
    case "observer":
      return participants.controller === null ? "; /takeover to be asked" : " by its controller";
    case "guest":
      return ", which requires the bridge's token";
    case "controller":
    case undefined:
      return undefined;
  }
}

function formatQuestions(status: ViewStatus): string[] {
  const approver = describeApprover(status);
  if (approver === undefined) return [];
  return status.participants.questions.flatMap((about) => [
    `? ${toSingleLine(about)}`,
    `  It waits for an answer${approver}.`,
  ]);
}

const OBSERVER_STATUS = "· watching; /takeover to take part";
const UNCONTROLLED_STATUS = "· watching; this session has no controller; /takeover to take part";

function formatStatus({
  session: talk,
  isCancelling,
  isLost,
  participants: others,
}: ViewStatus): string[] {
  if (talk === undefined) return [];
  const isWatching = talk.role === "observer";
  const mayCancel = talk.role === "controller" || (talk.isPrompting && !isWatching);
  const working = mayCancel ? "· working, Ctrl-C cancels" : "· working";
  const doing = isCancelling ? "· cancelling" : working;
  return [
    "",
    ...(isLost ? ["· no connection"] : talk.isBusy ? [doing] : []),
    ...(isWatching ? [others.controller === null ? UNCONTROLLED_STATUS : OBSERVER_STATUS] : []),
    ...talk.steering.pending.map(formatSteered),
    ...talk.queued.map((text) => `· next: ${toSingleLine(text)}`),
  ];
}

function formatSteered({ text, accepted }: SteeredMessage): string {
  if (accepted === undefined) return `· sending: ${toSingleLine(text)}`;
  // The agent receives the message in the running turn; its text then appears in the conversation.
  const state = accepted.deliveredAs === "steer" ? "steering" : "next";
  return `· ${state}: ${toSingleLine(text)}`;
}
