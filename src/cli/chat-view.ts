import { oneLine, PLAIN, type Style } from "../inspect/style.ts";
import { chatAsking, type ChatAsking } from "./chat-asking.ts";
import { rowWidth, type ChatScreen } from "./chat-screen.ts";
import type { ChatTalk } from "./chat-talk.ts";
import { chatUpdates, type ChatPage, type ChatUpdates } from "./chat-updates.ts";
import { markStyle, type Paint } from "./markdown/marks.ts";
import { wrapped } from "./markdown/row-layout.ts";
import { cut } from "./markdown/text-width.ts";
import { coloured, colouredMarks } from "./style.ts";

export interface ViewOptions {
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
  open(screen: ChatScreen): void;
  close(last: string): void;
}

export function chatView({ hasColours, wholeBy, status }: ViewOptions): ChatView {
  const style: Style = hasColours ? coloured() : PLAIN;
  let screen: ChatScreen | undefined;
  let opened: (screen: ChatScreen) => void = () => {};
  const opening = new Promise<ChatScreen>((resolve) => (opened = resolve));
  /** What came while a question is open. */
  let held: (() => void)[] | undefined;

  const page: ChatPage = {
    print(rows) {
      if (screen === undefined) process.stdout.write(rows.map((row) => `${row}\n`).join(""));
      else screen.print(rows);
    },
    show: (rows) => screen?.show(rows),
    get width() {
      return screen?.width ?? rowWidth(process.stdout);
    },
  };
  const marks = hasColours ? markStyle(style, colouredMarks()) : markStyle(PLAIN, null);
  const updates = chatUpdates({
    page,
    style,
    marks,
    wholeBy() {
      const { sessionId } = status();
      return sessionId === undefined ? undefined : wholeBy(sessionId);
    },
    below: () => statusRows(status()).map((row) => style.dim(cut(row, page.width))),
  });
  const asking = chatAsking({
    screen: opening,
    style,
    hold() {
      held ??= [];
      page.show([]);
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
    screen?.prompt(style.strong(status().isContinued ? "… " : "› "));
    updates.refresh();
  }

  return {
    style,
    get width() {
      return page.width;
    },
    updates,
    asking,
    inOrder,
    note(text, paint = style.dim) {
      inOrder(() => updates.note(wrapped(text, page.width).map(paint)));
    },
    print: (rows) => page.print(rows),
    renew,
    open(given) {
      screen = given;
      renew();
      opened(given);
    },
    close(last) {
      held = undefined;
      updates.ended();
      page.print(last === "" ? [] : wrapped(last, page.width).map(style.dim));
      screen?.close();
      screen = undefined;
    },
  };
}

function statusRows({ talk, isCancelling }: ViewStatus): string[] {
  if (talk === undefined) return [];
  return [
    "",
    ...(talk.isBusy ? [isCancelling ? "· cancelling" : "· working, Ctrl-C cancels"] : []),
    ...(talk.role === "observer" ? ["· watching; /takeover to take part"] : []),
    ...talk.queued.map((text) => `· next: ${oneLine(text)}`),
  ];
}
