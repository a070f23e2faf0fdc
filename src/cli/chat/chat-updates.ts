import { stripVTControlCharacters } from "node:util";
import type {
  AvailableCommand,
  TextUpdate,
  SessionUpdate,
  SessionNotification,
} from "../../host/index.ts";
import { toSingleLine, type Style } from "../../inspect/trace-style.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import { createToolCards } from "./tool-cards.ts";
import { createMarkdown, type MarkdownState } from "../markdown/markdown.ts";
import type { MarkStyle } from "../markdown/mark-style.ts";
import { wrapText } from "../markdown/row-layout.ts";
import { measureText } from "../markdown/text-width.ts";

export interface ChatPage {
  /** Rows that stay. */
  print(rows: readonly string[]): void;
  /** Rows that the next ones take the place of. */
  show(rows: readonly string[]): void;
  readonly width: number;
}

export interface ChatUpdatesOptions {
  readonly page: ChatPage;
  readonly style: Style;
  readonly marks: MarkStyle;
  readonly formatShowCommand: () => string | undefined;
  /** What calls wait for that do not run yet, where that can be said. */
  readonly describeWait: () => string | undefined;
  readonly clock: Pick<SteadyClock, "monotonic">;
  /** What stands below the rows that are still open. */
  readonly footerRows: () => readonly string[];
}

/** What a session says, as it is seen. */
export interface ChatUpdates {
  show(notification: Pick<SessionNotification, "update" | "isHistory">): void;
  /** Something of the chat's own, between what the session says. */
  note(rows: readonly string[]): void;
  /** Somebody said this to the agent. */
  showPrompt(text: string): void;
  /** A person was asked about this call of a tool. */
  markReviewed(toolCallId: string): void;
  /** A turn is over: nothing of it is open. */
  endTurn(): void;
  /** What stands below has changed. */
  refresh(): void;
  /** What the agent understands behind a slash. */
  readonly commands: readonly AvailableCommand[];
}

interface OpenMessage {
  readonly source: string;
  readonly isThought: boolean;
  readonly text: MarkdownState;
}

export function createChatUpdates(options: ChatUpdatesOptions): ChatUpdates {
  const { page, style, marks, formatShowCommand, describeWait, clock, footerRows } = options;
  const width = (): number => page.width;
  const spoken = createMarkdown({ style: marks, width });
  const thought = createMarkdown({ style: createThoughtStyle(marks), width: () => width() - 2 });
  const cards = createToolCards({ style, width, formatShowCommand, describeWait });
  let openMessage: OpenMessage | undefined;
  /** What the last row that stays belongs to: a blank row stands between two of different kinds. */
  let last = "";
  let commands: readonly AvailableCommand[] = [];
  /** Notes that came in the middle of a line: they stand below until it is whole. */
  let notes: readonly string[] = [];
  let receivedAt = -Infinity;
  let plan = "";

  function printRows(kind: string, rows: readonly string[]): void {
    if (rows.length === 0) return;
    page.print(last === "" || last === kind ? rows : ["", ...rows]);
    last = kind;
  }

  function selectCodec({ isThought }: OpenMessage) {
    return isThought ? thought : spoken;
  }

  function formatRow({ isThought }: OpenMessage, row: string): string {
    return isThought ? style.dim(`┊ ${row}`) : row;
  }

  function refresh(): void {
    const open =
      openMessage === undefined
        ? []
        : selectCodec(openMessage)
            .openRows(openMessage.text)
            .map((row) => (openMessage === undefined ? row : formatRow(openMessage, row)));
    const gap = open.length > 0 && last !== "" && last !== openMessage?.source ? [""] : [];
    page.show([...gap, ...open, ...cards.runningRows(), ...notes, ...footerRows()]);
  }

  function printNotes(): void {
    const rows = notes;
    notes = [];
    printRows("note", rows);
  }

  function endMessage(): void {
    if (openMessage === undefined) return;
    const { source } = openMessage;
    const rows: string[] = [];
    const endedMessage = openMessage;
    selectCodec(openMessage).finish(openMessage.text, (row) =>
      rows.push(formatRow(endedMessage, row)),
    );
    openMessage = undefined;
    printRows(source, rows);
    printNotes();
  }

  function addText(update: TextUpdate, isThought: boolean): void {
    const text = isThought ? update.text : (update.visibleDelta ?? update.text);
    if (text === "") return;
    const source = `${update.type} ${update.messageId ?? ""}`;
    if (openMessage?.source !== source) endMessage();
    const codec = isThought ? thought : spoken;
    openMessage ??= { source, isThought, text: codec.initial() };
    const rows: string[] = [];
    const current = openMessage;
    codec.step(current.text, text, (row) => rows.push(formatRow(current, row)));
    printRows(source, rows);
    if (codec.openRows(current.text).length === 0) printNotes();
  }

  /** A text behind a sign; its other rows begin where the first one does. */
  function formatWithSign(sign: string, text: string): string[] {
    const columns = measureText(stripVTControlCharacters(sign)) + 1;
    return text
      .split("\n")
      .flatMap((line) => wrapText(toSingleLine(line), width() - columns))
      .map((row, at) => (at === 0 ? `${sign} ${row}` : " ".repeat(columns) + row));
  }

  function showPrompt(text: string): void {
    endMessage();
    cards.clear();
    printRows("user", formatWithSign(style.strong("›"), text));
    last = "said";
  }

  function showUpdate(update: SessionUpdate): void {
    switch (update.type) {
      case "agent-text":
        return addText(update, false);
      case "agent-thought":
        return addText(update, true);
      case "user-text":
        return showPrompt(update.text);
      case "tool": {
        const rows = cards.update(update);
        if (rows.length > 0) endMessage();
        return printRows("tool", rows);
      }
      case "plan": {
        const rows = update.entries.flatMap(({ content, status }) =>
          formatWithSign(`  ${PLAN_SIGNS.get(status) ?? "☐"}`, content).map((row) =>
            status === "completed" ? style.dim(row) : row,
          ),
        );
        if (rows.join("\n") === plan) return;
        plan = rows.join("\n");
        endMessage();
        return printRows("plan", rows.length === 0 ? [] : [style.strong("Plan"), ...rows]);
      }
      case "commands":
        commands = update.commands;
        return;
      case "extension": {
        const { message } = update.fields;
        if (update.name !== "log" || typeof message !== "string") return;
        endMessage();
        return printRows("log", formatWithSign("!", message).map(style.warn));
      }
      case "mode":
      case "options":
      case "info":
      case "usage":
        return;
    }
  }

  return {
    show({ update, isHistory }) {
      if (update.type === "agent-text" && !isHistory) receivedAt = clock.monotonic();
      showUpdate(update);
      refresh();
    },
    note(rows) {
      notes = [...notes, ...rows];
      const isFlowing = clock.monotonic() - receivedAt < FLOWING_MS;
      const isInLine =
        openMessage !== undefined && selectCodec(openMessage).openRows(openMessage.text).length > 0;
      if (!isFlowing) endMessage();
      if (!isFlowing || !isInLine) printNotes();
      refresh();
    },
    showPrompt(text) {
      showPrompt(text);
      refresh();
    },
    markReviewed: (toolCallId) => cards.markReviewed(toolCallId),
    endTurn() {
      endMessage();
      cards.clear();
      refresh();
    },
    refresh,
    get commands() {
      return commands;
    },
  };
}

/** A text of which nothing came for so long is at its end, or waits for something. */
const FLOWING_MS = 1000;

const PLAN_SIGNS: ReadonlyMap<string, string> = new Map([
  ["completed", "☑"],
  ["in_progress", "▸"],
]);

/** All of it is dim already. */
function createThoughtStyle({ paints }: MarkStyle): MarkStyle {
  const same = (text: string): string => text;
  const { emphasis, struck, link } = paints;
  const plain = { strong: same, code: same, heading: same, dim: same };
  return { hasColours: false, paints: { ...plain, emphasis, struck, link } };
}
