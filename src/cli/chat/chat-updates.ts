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
  /** Prints permanent rows. */
  print(rows: readonly string[]): void;
  /** Replaces the temporary rows. */
  show(rows: readonly string[]): void;
  readonly width: number;
}

export interface ChatUpdatesOptions {
  readonly page: ChatPage;
  readonly style: Style;
  readonly marks: MarkStyle;
  readonly formatShowCommand: () => string | undefined;
  /** Describes the reason why pending tool calls wait. Undefined if unknown. */
  readonly describeWait: () => string | undefined;
  readonly clock: Pick<SteadyClock, "monotonic">;
  /** Rows below the temporary rows. */
  readonly footerRows: () => readonly string[];
}

/** Displays the updates of a session. */
export interface ChatUpdates {
  show(notification: Pick<SessionNotification, "update" | "isHistory">): void;
  /** Prints a note of the chat itself, between updates of the session. */
  note(rows: readonly string[]): void;
  /** Prints a prompt to the agent. */
  showPrompt(text: string): void;
  /** Called after a person was asked about this tool call. */
  markReviewed(toolCallId: string): void;
  /** Ends all open output of the turn. */
  endTurn(): void;
  /** Redraws the rows below. */
  refresh(): void;
  /** Slash commands of the agent. */
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
  /** The source of the last permanent row. Rows of different sources are separated by a blank row. */
  let last = "";
  let commands: readonly AvailableCommand[] = [];
  /** Notes which arrived within a line, shown below until the line is complete. */
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

  /** Formats text after a sign. Further rows are indented to the start of the text. */
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

/** Milliseconds. After this time without new text, a message is considered ended or paused. */
const FLOWING_MS = 1000;

const PLAN_SIGNS: ReadonlyMap<string, string> = new Map([
  ["completed", "☑"],
  ["in_progress", "▸"],
]);

/** Thoughts are dim as a whole, so these marks have no additional style. */
function createThoughtStyle({ paints }: MarkStyle): MarkStyle {
  const same = (text: string): string => text;
  const { emphasis, struck, link } = paints;
  const plain = { strong: same, code: same, heading: same, dim: same };
  return { hasColours: false, paints: { ...plain, emphasis, struck, link } };
}
