import { toSingleLine, PLAIN_STYLE, type Style } from "../../inspect/trace-style.ts";
import { systemClock } from "../../platform/clock.ts";
import { createApprovalPrompts, type ApprovalPrompts } from "./approval-prompts.ts";
import type { ChatParticipants } from "./participants.ts";
import type { ChatScreen } from "./chat-screen.ts";
import type { ChatSession } from "./session.ts";
import { createChatUpdates, type ChatUpdates } from "./chat-updates.ts";
import { createMarkStyle, type Paint } from "../markdown/mark-style.ts";
import { wrapText } from "../markdown/row-layout.ts";
import { cutToWidth } from "../markdown/text-width.ts";
import { createColorStyle, createColorMarks } from "../shared/terminal/color-style.ts";

export interface ViewOptions {
  readonly screen: ChatScreen;
  readonly hasColours: boolean;
  /** How to see all of what was shortened in a session. */
  readonly formatShowCommand: (sessionId: string) => string | undefined;
  /** What is known of the talk, for the rows above what is typed. */
  readonly getStatus: () => ViewStatus;
}

export interface ViewStatus {
  readonly sessionId: string | undefined;
  readonly session: ChatSession | undefined;
  readonly isCancelling: boolean;
  /** A line that goes on is being typed. */
  readonly isContinued: boolean;
  readonly participants: Pick<ChatParticipants, "controller" | "questions">;
  /** There is no connection at the moment. */
  readonly isLost: boolean;
}

/** What a person sees of a chat. */
export interface ChatView {
  readonly style: Style;
  readonly width: number;
  readonly updates: ChatUpdates;
  readonly approvals: ApprovalPrompts;
  /** Runs it now, or when the question that is open is over. */
  runInOrder(run: () => void): void;
  readonly note: (text: string, paint?: Paint) => void;
  /** At once, also while a question is open. */
  print(rows: readonly string[]): void;
  /** What stands below what is said has changed. */
  refresh(): void;
  close(last: string): void;
}

export function createChatView({
  screen,
  hasColours,
  formatShowCommand,
  getStatus,
}: ViewOptions): ChatView {
  const style: Style = hasColours ? createColorStyle() : PLAIN_STYLE;
  /** What came while a question is open. */
  let heldUpdates: (() => void)[] | undefined;

  const marks = hasColours
    ? createMarkStyle(style, createColorMarks())
    : createMarkStyle(PLAIN_STYLE, null);
  const updates = createChatUpdates({
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
  const approvals = createApprovalPrompts({
    screen,
    style,
    hasLostControl: () => getStatus().session?.role === "observer",
    hold() {
      heldUpdates ??= [];
      screen.show([]);
    },
    release() {
      const due = heldUpdates ?? [];
      heldUpdates = undefined;
      for (const run of due) run();
      refresh();
    },
  });

  function runInOrder(run: () => void): void {
    if (heldUpdates === undefined) run();
    else heldUpdates.push(run);
  }

  function refresh(): void {
    if (heldUpdates !== undefined) return;
    screen.setPrompt(style.strong(getStatus().isContinued ? "… " : "› "));
    updates.refresh();
  }

  return {
    style,
    get width() {
      return screen.width;
    },
    updates,
    approvals,
    runInOrder,
    note(text, paint = style.dim) {
      const rows = (): string[] =>
        text.split("\n").flatMap((line) => wrapText(toSingleLine(line), screen.width));
      runInOrder(() => updates.note(rows().map(paint)));
    },
    print: (rows) => screen.print(rows),
    refresh,
    close(last) {
      heldUpdates = undefined;
      approvals.close();
      updates.endTurn();
      screen.print(last === "" ? [] : wrapText(last, screen.width).map(style.dim));
      screen.close();
    },
  };
}

/** Whose answer something waits for; undefined for who is asked, and sees the question instead. */
function describeApprover({ session, participants }: ViewStatus): string | undefined {
  switch (session?.role) {
    case "observer":
      return participants.controller === null ? "; /takeover to be asked" : " by its controller";
    case "guest":
      return ", which takes the bridge's token";
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
const UNCONTROLLED_STATUS = "· watching, and nobody controls this session; /takeover to take part";

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
    ...talk.queued.map((text) => `· next: ${toSingleLine(text)}`),
  ];
}
