import { stripVTControlCharacters } from "node:util";
import type {
  AvailableCommand,
  ExtensionUpdate,
  PlanUpdate,
  TextUpdate,
  ToolUpdate,
  SessionUpdate,
  SessionNotification,
  WorkerUpdate,
} from "../../../host/index.ts";
import { toSingleLine, type Style } from "../../../inspect/trace-style.ts";
import type { SteadyClock } from "../../../platform/clock.ts";
import { formatExtension } from "./format-extension.ts";
import { createMessageText, type MessageText } from "./message-text.ts";
import { createToolCards, type ToolCards } from "./tool-cards.ts";
import type { MarkStyle } from "../../markdown/mark-style.ts";
import { wrapText } from "../../markdown/row-layout.ts";
import { measureText } from "../../markdown/text-width.ts";

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

export function createChatUpdates(options: ChatUpdatesOptions): ChatUpdates {
  return new PageUpdates(options);
}

class PageUpdates implements ChatUpdates {
  readonly #options: ChatUpdatesOptions;
  readonly #message: MessageText;
  readonly #cards: ToolCards;
  /** The source of the last permanent row. Rows of different sources are separated by a blank row. */
  #last = "";
  #commands: readonly AvailableCommand[] = [];
  /** Notes which arrived within a line, shown below until the line is complete. */
  #notes: readonly string[] = [];
  #receivedAt = -Infinity;
  #plan = "";

  constructor(options: ChatUpdatesOptions) {
    const { page, style, marks, formatShowCommand, describeWait } = options;
    const width = (): number => page.width;
    this.#options = options;
    this.#message = createMessageText({ style, marks, width });
    this.#cards = createToolCards({ style, width, formatShowCommand, describeWait });
  }

  get commands(): readonly AvailableCommand[] {
    return this.#commands;
  }

  show({ update, isHistory }: Pick<SessionNotification, "update" | "isHistory">): void {
    if (update.type === "agent-text" && !isHistory)
      this.#receivedAt = this.#options.clock.monotonic();
    this.#showUpdate(update);
    this.refresh();
  }

  note(rows: readonly string[]): void {
    this.#notes = [...this.#notes, ...rows];
    const isFlowing = this.#options.clock.monotonic() - this.#receivedAt < FLOWING_MS;
    const isInLine = this.#message.openRows().length > 0;
    if (!isFlowing) this.#endMessage();
    if (!isFlowing || !isInLine) this.#printNotes();
    this.refresh();
  }

  showPrompt(text: string): void {
    this.#printPrompt(text);
    this.refresh();
  }

  markReviewed(toolCallId: string): void {
    this.#cards.markReviewed(toolCallId);
  }

  endTurn(): void {
    this.#endMessage();
    this.#cards.clear();
    this.refresh();
  }

  refresh(): void {
    const { page, footerRows } = this.#options;
    const open = this.#message.openRows();
    const hasGap = open.length > 0 && this.#last !== "" && this.#last !== this.#message.source;
    const running = this.#cards.runningRows();
    page.show([...(hasGap ? [""] : []), ...open, ...running, ...this.#notes, ...footerRows()]);
  }

  #showUpdate(update: SessionUpdate): void {
    switch (update.type) {
      case "agent-text":
        return this.#addText(update, update.visibleDelta ?? update.text);
      case "agent-thought":
        return this.#addText(update, update.text);
      case "user-text":
        return this.#printPrompt(update.text);
      case "tool":
        return this.#showTool(update);
      case "plan":
        return this.#showPlan(update.entries);
      case "commands":
        this.#commands = update.commands;
        return;
      case "extension":
        return this.#showExtension(update);
      case "worker":
        this.#endMessage();
        return this.#printRows("worker", [this.#formatWorker(update)]);
      case "mode":
      case "options":
      case "info":
      case "usage":
        return;
    }
  }

  #formatWorker({ name, status, sessionId }: WorkerUpdate): string {
    const session = sessionId === null ? "" : ` (${toSingleLine(sessionId)})`;
    return this.#options.style.dim(
      `⑂ worker ${toSingleLine(name)}: ${toSingleLine(status)}${session}`,
    );
  }

  #showExtension({ name, fields }: ExtensionUpdate): void {
    const line = formatExtension(name, fields);
    if (line === undefined) return;
    this.#endMessage();
    const rows = this.#formatWithSign(line.sign, line.text);
    this.#printRows(
      name,
      line.tone === undefined ? rows : rows.map(this.#options.style[line.tone]),
    );
  }

  #addText({ type, messageId }: TextUpdate, text: string): void {
    if (text === "") return;
    const source = `${type} ${messageId ?? ""}`;
    if (this.#message.source !== source) this.#endMessage();
    this.#printRows(source, this.#message.add(source, text, type === "agent-thought"));
    if (this.#message.openRows().length === 0) this.#printNotes();
  }

  #endMessage(): void {
    const { source } = this.#message;
    if (source === undefined) return;
    this.#printRows(source, this.#message.end());
    this.#printNotes();
  }

  #printPrompt(text: string): void {
    this.#endMessage();
    this.#cards.clear();
    this.#printRows("user", this.#formatWithSign(this.#options.style.strong("›"), text));
    // Not "user", so that two prompts are separated too.
    this.#last = "prompt";
  }

  #showTool(update: ToolUpdate): void {
    const rows = this.#cards.update(update);
    if (rows.length > 0) this.#endMessage();
    this.#printRows("tool", rows);
  }

  /** Prints a plan unless the plan is the same as before. */
  #showPlan(entries: PlanUpdate["entries"]): void {
    const { style } = this.#options;
    const rows = entries.flatMap(({ content, status }) =>
      this.#formatWithSign(`  ${PLAN_SIGNS.get(status) ?? "☐"}`, content).map((row) =>
        status === "completed" ? style.dim(row) : row,
      ),
    );
    if (rows.join("\n") === this.#plan) return;
    this.#plan = rows.join("\n");
    this.#endMessage();
    this.#printRows("plan", rows.length === 0 ? [] : [style.strong("Plan"), ...rows]);
  }

  #printNotes(): void {
    const rows = this.#notes;
    this.#notes = [];
    this.#printRows("note", rows);
  }

  #printRows(kind: string, rows: readonly string[]): void {
    if (rows.length === 0) return;
    const needsGap = this.#last !== "" && this.#last !== kind;
    this.#options.page.print(needsGap ? ["", ...rows] : rows);
    this.#last = kind;
  }

  /** Formats text after a sign. Further rows are indented to the start of the text. */
  #formatWithSign(sign: string, text: string): string[] {
    const columns = measureText(stripVTControlCharacters(sign)) + 1;
    return text
      .split("\n")
      .flatMap((line) => wrapText(toSingleLine(line), this.#options.page.width - columns))
      .map((row, at) => (at === 0 ? `${sign} ${row}` : " ".repeat(columns) + row));
  }
}

/** Milliseconds. After this time without new text, a message is considered ended or paused. */
const FLOWING_MS = 1000;

const PLAN_SIGNS: ReadonlyMap<string, string> = new Map([
  ["completed", "☑"],
  ["in_progress", "▸"],
]);
