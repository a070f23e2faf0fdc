import { oneLine, PLAIN, type Style } from "../inspect/style.ts";
import { systemClock } from "../platform/clock.ts";
import { chatAsking, type ChatAsking } from "./chat-asking.ts";
import type { ChatOthers } from "./chat-others.ts";
import type { ChatScreen } from "./chat-screen.ts";
import type { ChatTalk } from "./chat-talk.ts";
import { chatUpdates, type ChatUpdates } from "./chat-updates.ts";
import { markStyle, type Paint } from "./markdown/marks.ts";
import { wrapped } from "./markdown/row-layout.ts";
import { cut } from "./markdown/text-width.ts";
import { coloured, colouredMarks } from "./style.ts";

export interface ViewOptions {
  readonly screen: ChatScreen;
  readonly hasColours: boolean;
  /** How to see all of what was shortened in a session. */
  readonly wholeBy: (sessionId: string) => string | undefined;
  /** What is known of the talk, for the rows above what is typed. */
  readonly status: () => ViewStatus;
}

export interface ViewStatus {
  readonly sessionId: string | undefined;
  readonly talk: ChatTalk | undefined;
  readonly isCancelling: boolean;
  /** A line that goes on is being typed. */
  readonly isContinued: boolean;
  readonly others: Pick<ChatOthers, "controller" | "questions">;
  /** There is no connection at the moment. */
  readonly isLost: boolean;
}

/** What a person sees of a chat. */
export interface ChatView {
  readonly style: Style;
  readonly width: number;
  readonly updates: ChatUpdates;
  readonly asking: ChatAsking;
  /** Runs it now, or when the question that is open is over. */
  inOrder(run: () => void): void;
  readonly note: (text: string, paint?: Paint) => void;
  /** At once, also while a question is open. */
  print(rows: readonly string[]): void;
  /** What stands below what is said has changed. */
  renew(): void;
  close(last: string): void;
}

export function chatView({ screen, hasColours, wholeBy, status }: ViewOptions): ChatView {
  const style: Style = hasColours ? coloured() : PLAIN;
  /** What came while a question is open. */
  let held: (() => void)[] | undefined;

  const marks = hasColours ? markStyle(style, colouredMarks()) : markStyle(PLAIN, null);
  const updates = chatUpdates({
    page: screen,
    style,
    marks,
    wholeBy() {
      const { sessionId } = status();
      return sessionId === undefined ? undefined : wholeBy(sessionId);
    },
    waitsFor() {
      const who = asked(status());
      return who === undefined ? undefined : `approval${who}`;
    },
    clock: systemClock,
    below: () => [
      ...questionRows(status())
        .flatMap((row) => wrapped(row, screen.width))
        .map(style.dim),
      ...statusRows(status()).map((row) => style.dim(cut(row, screen.width))),
    ],
  });
  const asking = chatAsking({
    screen,
    style,
    isTakenOver: () => status().talk?.role === "observer",
    hold() {
      held ??= [];
      screen.show([]);
    },
    release() {
      const due = held ?? [];
      held = undefined;
      for (const run of due) run();
      renew();
    },
  });

  function inOrder(run: () => void): void {
    if (held === undefined) run();
    else held.push(run);
  }

  function renew(): void {
    if (held !== undefined) return;
    screen.prompt(style.strong(status().isContinued ? "… " : "› "));
    updates.refresh();
  }

  return {
    style,
    get width() {
      return screen.width;
    },
    updates,
    asking,
    inOrder,
    note(text, paint = style.dim) {
      const rows = (): string[] =>
        text.split("\n").flatMap((line) => wrapped(oneLine(line), screen.width));
      inOrder(() => updates.note(rows().map(paint)));
    },
    print: (rows) => screen.print(rows),
    renew,
    close(last) {
      held = undefined;
      asking.close();
      updates.ended();
      screen.print(last === "" ? [] : wrapped(last, screen.width).map(style.dim));
      screen.close();
    },
  };
}

/** Whose answer something waits for; undefined for who is asked, and sees the question instead. */
function asked({ talk, others }: ViewStatus): string | undefined {
  switch (talk?.role) {
    case "observer":
      return others.controller === null ? "; /takeover to be asked" : " by its controller";
    case "guest":
      return ", which takes the bridge's token";
    case "controller":
    case undefined:
      return undefined;
  }
}

function questionRows(status: ViewStatus): string[] {
  const who = asked(status);
  if (who === undefined) return [];
  return status.others.questions.flatMap((about) => [
    `? ${oneLine(about)}`,
    `  It waits for an answer${who}.`,
  ]);
}

const WATCHED = "· watching; /takeover to take part";
const UNCONTROLLED = "· watching, and nobody controls this session; /takeover to take part";

function statusRows({ talk, isCancelling, isLost, others }: ViewStatus): string[] {
  if (talk === undefined) return [];
  const isWatching = talk.role === "observer";
  const mayCancel = talk.role === "controller" || (talk.isPrompting && !isWatching);
  const working = mayCancel ? "· working, Ctrl-C cancels" : "· working";
  const doing = isCancelling ? "· cancelling" : working;
  return [
    "",
    ...(isLost ? ["· no connection"] : talk.isBusy ? [doing] : []),
    ...(isWatching ? [others.controller === null ? UNCONTROLLED : WATCHED] : []),
    ...talk.queued.map((text) => `· next: ${oneLine(text)}`),
  ];
}
