import { stripVTControlCharacters } from "node:util";
import type { SeenCommand, SeenText, SeenUpdate, SessionTold } from "../host/index.ts";
import { oneLine, type Style } from "../inspect/style.ts";
import type { SteadyClock } from "../platform/clock.ts";
import { toolCards } from "./chat-cards.ts";
import { markdown, type MarkdownState } from "./markdown/markdown.ts";
import type { MarkStyle } from "./markdown/marks.ts";
import { wrapped } from "./markdown/row-layout.ts";
import { textWidth } from "./markdown/text-width.ts";

export interface ChatPage {
  /** Rows that stay. */
  print(rows: readonly string[]): void;
  /** Rows that the next ones take the place of. */
  show(rows: readonly string[]): void;
  readonly width: number;
}

export interface UpdatesOptions {
  readonly page: ChatPage;
  readonly style: Style;
  readonly marks: MarkStyle;
  readonly wholeBy: () => string | undefined;
  /** What calls wait for that do not run yet, where that can be said. */
  readonly waitsFor: () => string | undefined;
  readonly clock: Pick<SteadyClock, "monotonic">;
  /** What stands below the rows that are still open. */
  readonly below: () => readonly string[];
}

/** What a session says, as it is seen. */
export interface ChatUpdates {
  told(told: Pick<SessionTold, "update" | "isHistory">): void;
  /** Something of the chat's own, between what the session says. */
  note(rows: readonly string[]): void;
  /** Somebody said this to the agent. */
  said(text: string): void;
  /** A person was asked about this call of a tool. */
  asked(toolCallId: string): void;
  /** A turn is over: nothing of it is open. */
  ended(): void;
  /** What stands below has changed. */
  refresh(): void;
  /** What the agent understands behind a slash. */
  readonly commands: readonly SeenCommand[];
}

interface Saying {
  readonly who: string;
  readonly isThought: boolean;
  readonly text: MarkdownState;
}

export function chatUpdates(options: UpdatesOptions): ChatUpdates {
  const { page, style, marks, wholeBy, waitsFor, clock, below } = options;
  const width = (): number => page.width;
  const spoken = markdown({ style: marks, width });
  const thought = markdown({ style: thoughtStyle(marks), width: () => width() - 2 });
  const cards = toolCards({ style, width, wholeBy, waitsFor });
  let saying: Saying | undefined;
  /** What the last row that stays belongs to: a blank row stands between two of different kinds. */
  let last = "";
  let commands: readonly SeenCommand[] = [];
  /** Notes that came in the middle of a line: they stand below until it is whole. */
  let notes: readonly string[] = [];
  let heardAt = -Infinity;
  let plan = "";

  function put(kind: string, rows: readonly string[]): void {
    if (rows.length === 0) return;
    page.print(last === "" || last === kind ? rows : ["", ...rows]);
    last = kind;
  }

  function codecOf({ isThought }: Saying) {
    return isThought ? thought : spoken;
  }

  function rowOf({ isThought }: Saying, row: string): string {
    return isThought ? style.dim(`┊ ${row}`) : row;
  }

  function refresh(): void {
    const open =
      saying === undefined
        ? []
        : codecOf(saying)
            .openRows(saying.text)
            .map((row) => (saying === undefined ? row : rowOf(saying, row)));
    const gap = open.length > 0 && last !== "" && last !== saying?.who ? [""] : [];
    page.show([...gap, ...open, ...cards.running(), ...notes, ...below()]);
  }

  function putNotes(): void {
    const rows = notes;
    notes = [];
    put("note", rows);
  }

  function endSaying(): void {
    if (saying === undefined) return;
    const { who } = saying;
    const rows: string[] = [];
    const ended = saying;
    codecOf(saying).finish(saying.text, (row) => rows.push(rowOf(ended, row)));
    saying = undefined;
    put(who, rows);
    putNotes();
  }

  function hear(update: SeenText, isThought: boolean): void {
    const text = isThought ? update.text : (update.visibleDelta ?? update.text);
    if (text === "") return;
    const who = `${update.type} ${update.messageId ?? ""}`;
    if (saying?.who !== who) endSaying();
    const codec = isThought ? thought : spoken;
    saying ??= { who, isThought, text: codec.initial() };
    const rows: string[] = [];
    const current = saying;
    codec.step(current.text, text, (row) => rows.push(rowOf(current, row)));
    put(who, rows);
    if (codec.openRows(current.text).length === 0) putNotes();
  }

  /** A text behind a sign; its other rows begin where the first one does. */
  function behind(sign: string, text: string): string[] {
    const columns = textWidth(stripVTControlCharacters(sign)) + 1;
    return text
      .split("\n")
      .flatMap((line) => wrapped(oneLine(line), width() - columns))
      .map((row, at) => (at === 0 ? `${sign} ${row}` : " ".repeat(columns) + row));
  }

  function said(text: string): void {
    endSaying();
    cards.clear();
    put("user", behind(style.strong("›"), text));
    last = "said";
  }

  function show(update: SeenUpdate): void {
    switch (update.type) {
      case "agent-text":
        return hear(update, false);
      case "agent-thought":
        return hear(update, true);
      case "user-text":
        return said(update.text);
      case "tool": {
        const rows = cards.told(update);
        if (rows.length > 0) endSaying();
        return put("tool", rows);
      }
      case "plan": {
        const rows = update.entries.flatMap(({ content, status }) =>
          behind(`  ${PLAN_SIGNS.get(status) ?? "☐"}`, content).map((row) =>
            status === "completed" ? style.dim(row) : row,
          ),
        );
        if (rows.join("\n") === plan) return;
        plan = rows.join("\n");
        endSaying();
        return put("plan", rows.length === 0 ? [] : [style.strong("Plan"), ...rows]);
      }
      case "commands":
        commands = update.commands;
        return;
      case "extension": {
        const { message } = update.fields;
        if (update.name !== "log" || typeof message !== "string") return;
        endSaying();
        return put("log", behind("!", message).map(style.warn));
      }
      case "mode":
      case "options":
      case "info":
      case "usage":
        return;
    }
  }

  return {
    told({ update, isHistory }) {
      if (update.type === "agent-text" && !isHistory) heardAt = clock.monotonic();
      show(update);
      refresh();
    },
    note(rows) {
      notes = [...notes, ...rows];
      const isFlowing = clock.monotonic() - heardAt < FLOWING_MS;
      const isInLine = saying !== undefined && codecOf(saying).openRows(saying.text).length > 0;
      if (!isFlowing) endSaying();
      if (!isFlowing || !isInLine) putNotes();
      refresh();
    },
    said(text) {
      said(text);
      refresh();
    },
    asked: (toolCallId) => cards.asked(toolCallId),
    ended() {
      endSaying();
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
function thoughtStyle({ paints }: MarkStyle): MarkStyle {
  const same = (text: string): string => text;
  const { emphasis, struck, link } = paints;
  const plain = { strong: same, code: same, heading: same, dim: same };
  return { hasColours: false, paints: { ...plain, emphasis, struck, link } };
}
