import { formatDuration } from "../../../text/format-duration.ts";
import { pluralize } from "../../../text/pluralize.ts";
import { isObject, toJsonText, type JsonValue } from "../../../data/json.ts";
import type { FileDiff, ToolUpdate } from "../../../host/index.ts";
import { toSingleLine, type Style } from "../../../inspect/trace-style.ts";
import { formatDiff } from "../../shared/terminal/format-diff.ts";
import { wrapWords } from "../../shared/terminal/wrap-words.ts";
import { cutToWidth, measureText } from "../../markdown/text-width.ts";

export interface ToolCardsOptions {
  readonly style: Style;
  readonly width: () => number;
  /** Returns the command that shows the full output. Undefined if none exists. */
  readonly formatShowCommand: () => string | undefined;
  /** Describes the reason why a pending tool call waits. Undefined if unknown. */
  readonly describeWait?: () => string | undefined;
}

/** Formats tool calls: a row at the start, and rows with the result at the end. */
export interface ToolCards {
  /** Returns the new rows. */
  update(update: ToolUpdate): readonly string[];
  /** Called after a person reviewed the changes of this tool call. */
  markReviewed(toolCallId: string): void;
  /** Returns a row for each running tool call. */
  runningRows(): readonly string[];
  /** Called at the end of a turn. */
  clear(): void;
}

interface ToolCard {
  title: string;
  input: JsonValue | undefined;
  isShown: boolean;
  isStarted: boolean;
  diffs: readonly FileDiff[];
}

export function createToolCards(options: ToolCardsOptions): ToolCards {
  return new OpenToolCards(options);
}

class OpenToolCards implements ToolCards {
  readonly #options: ToolCardsOptions;
  readonly #open = new Map<string, ToolCard>();
  readonly #endedCalls = new Set<string>();
  readonly #reviewedCalls = new Set<string>();
  /** The tool call shown last. Its end row needs no name. */
  #last = "";

  constructor(options: ToolCardsOptions) {
    this.#options = options;
  }

  update(update: ToolUpdate): readonly string[] {
    const { toolCallId: id, status } = update;
    if (this.#endedCalls.has(id)) return [];
    const call = this.#open.get(id) ?? createToolCard();
    this.#open.set(id, call);
    updateToolCard(call, update);
    const isEnd = status === "completed" || status === "failed";
    const canShow = call.input !== undefined || call.isStarted || isEnd;
    const rows = canShow ? this.#begin(id, call) : [];
    if (!isEnd) return rows;
    this.#open.delete(id);
    this.#endedCalls.add(id);
    return [...rows, ...this.#end(id, call, update)];
  }

  #begin(id: string, call: ToolCard): string[] {
    if (call.isShown) return [];
    call.isShown = true;
    this.#last = id;
    const { style, width } = this.#options;
    const name = formatName(call, width());
    const about = cutToWidth(describeInput(call.input), width() - measureText(name) - 4);
    return [`${style.note("●")} ${style.strong(name)} ${style.dim(about)}`.trimEnd()];
  }

  #end(id: string, call: ToolCard, update: ToolUpdate): string[] {
    const { style, width } = this.#options;
    const isDone = update.status === "completed";
    const named = this.#last === id ? "" : ` ${formatName(call, width())}`;
    const sign = isDone ? style.good("✓") : style.bad("✗");
    const facts = formatOutcome(update);
    // The diff is more informative than the tool's own text about the change.
    const resultRows = isDone && call.diffs.length > 0 ? [] : formatResultLines(update, style);
    const diffs = (this.#reviewedCalls.has(id) ? [] : call.diffs).flatMap((diff) =>
      formatDiff(diff, style, SHORT_DIFF),
    );
    const [only] = resultRows;
    const available = width() - measureText(named) - measureText(facts) - 8;
    const isShort = resultRows.length === 1 && only !== undefined && measureText(only) <= available;
    const head = `  ${sign}${named} ${style.dim(facts)}`.trimEnd();
    return [
      isShort ? `${head}${style.dim(` · ${only}`)}` : head,
      ...diffs.flatMap((line) => wrapWords(line, width() - 4)).map((row) => `    ${row}`),
      ...(isShort ? [] : shorten(resultRows, this.#options).map((line) => `    ${line}`)),
    ];
  }

  markReviewed(toolCallId: string): void {
    this.#reviewedCalls.add(toolCallId);
  }

  runningRows(): readonly string[] {
    const { style, width } = this.#options;
    return [...this.#open.values()].map((call) =>
      style.dim(cutToWidth(`● ${toSingleLine(call.title)} ${this.#formatState(call)}`, width())),
    );
  }

  #formatState({ isStarted, isShown }: ToolCard): string {
    if (isStarted) return "runs";
    // Without arguments, no approval has been requested yet.
    const wait = isShown ? this.#options.describeWait?.() : undefined;
    return wait === undefined ? "waits" : `waits for ${wait}`;
  }

  clear(): void {
    this.#open.clear();
    this.#endedCalls.clear();
    this.#reviewedCalls.clear();
  }
}

function createToolCard(): ToolCard {
  return { title: "a tool", input: undefined, isShown: false, isStarted: false, diffs: [] };
}

/** Fields that are absent from the update keep their value. */
function updateToolCard(call: ToolCard, { title, input, status, content }: ToolUpdate): void {
  call.title = title ?? call.title;
  call.input = input ?? call.input;
  call.diffs = content?.flatMap((item) => (item.type === "diff" ? [item] : [])) ?? call.diffs;
  call.isStarted ||= status === "in_progress";
}

/** Leaves room for the text next to the name. */
function formatName({ title }: ToolCard, width: number): string {
  return cutToWidth(toSingleLine(title), Math.max(10, width - 20));
}

/** Formats the kind of failure and the duration. Empty if neither exists. */
function formatOutcome({ status, bridge }: ToolUpdate): string {
  const { durationMs, executionDurationMs, errorCategory } = bridge;
  return [
    ...(status === "completed" ? [] : [ENDINGS.get(errorCategory ?? "") ?? "failed"]),
    ...(durationMs === undefined ? [] : [formatDuration(executionDurationMs ?? durationMs)]),
  ].join(", ");
}

/** Returns the first rows and a hint for the rest. */
function shorten(
  lines: readonly string[],
  { style, width, formatShowCommand }: ToolCardsOptions,
): string[] {
  const columns = width() - 4;
  const rows = lines.flatMap((line) => wrapWords(line, columns));
  const omitted = rows.length - MAX_ROWS;
  if (omitted <= 1) return rows.map((row) => style.dim(row));
  const showCommand = formatShowCommand();
  const hint = showCommand === undefined ? [] : wrapWords(`Show all: ${showCommand}`, columns);
  const omittedRow = `… ${pluralize(omitted, "more row")}`;
  return [...rows.slice(0, MAX_ROWS), omittedRow, ...hint].map((row) => style.dim(row));
}

const MAX_ROWS = 6;
const SHORT_DIFF = { hunks: 4, lines: 10, characters: 160 };

const ENDINGS: ReadonlyMap<string, string> = new Map([
  ["permission_denied", "denied"],
  ["cancelled", "cancelled"],
  ["timeout", "timed out"],
  ["schema_validation", "refused"],
  ["unknown", "outcome unknown"],
]);

/** Describes a tool call by its most telling argument, or by all of them. */
function describeInput(input: JsonValue | undefined): string {
  if (input === undefined || input === null) return "";
  if (!isObject(input)) return toSingleLine(typeof input === "string" ? input : toJsonText(input));
  const candidates = DESCRIPTIVE_ARGUMENTS.map((name) =>
    Object.hasOwn(input, name) ? input[name] : undefined,
  );
  const text = candidates.find((value) => typeof value === "string" && value !== "");
  if (typeof text === "string") return toSingleLine(text);
  const values = Object.values(input);
  const [only] = values;
  if (values.length === 1 && typeof only === "string") return toSingleLine(only);
  return values.length === 0 ? "" : toSingleLine(toJsonText(input));
}

const DESCRIPTIVE_ARGUMENTS = ["command", "path", "file_path", "pattern", "query", "url"];

function formatResultLines({ content = [], bridge, status }: ToolUpdate, style: Style): string[] {
  const texts = content.flatMap((item) => (item.type === "text" ? [stripFence(item.text)] : []));
  const error = status === "failed" && typeof bridge.error === "string" ? [bridge.error] : [];
  const outputs = texts.length > 0 ? texts : error;
  const hiddenItems = content.filter(({ type }) => type === "other").length;
  const lines = outputs.flatMap((text) => text.trimEnd().split("\n")).map(toSingleLine);
  const visibleLines = lines.join("") === "" ? [] : lines;
  return hiddenItems === 0
    ? visibleLines
    : [...visibleLines, style.dim(`(${pluralize(hiddenItems, "item")} not shown)`)];
}

/** Commands return their output as a code block. */
function stripFence(text: string): string {
  const fence = /^`{3,}/.exec(text)?.[0];
  const trimmed = text.trimEnd();
  const from = trimmed.indexOf("\n") + 1;
  if (fence === undefined || from === 0 || !trimmed.endsWith(fence)) return text;
  return trimmed.slice(from, -fence.length);
}
