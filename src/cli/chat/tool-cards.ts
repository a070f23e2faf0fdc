import { pluralize } from "../../text/pluralize.ts";
import { isObject, toJsonText, type JsonValue } from "../../data/json.ts";
import type { FileDiff, ToolUpdate } from "../../host/index.ts";
import { toSingleLine, type Style } from "../../inspect/trace-style.ts";
import { formatDiff } from "../shared/terminal/format-diff.ts";
import { wrapWords } from "../shared/terminal/wrap-words.ts";
import { cutToWidth, measureText } from "../markdown/text-width.ts";

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

export function createToolCards({
  style,
  width,
  formatShowCommand,
  describeWait,
}: ToolCardsOptions): ToolCards {
  const open = new Map<string, ToolCard>();
  const endedCalls = new Set<string>();
  const reviewedCalls = new Set<string>();
  /** The tool call shown last. Its end row needs no name. */
  let last = "";

  function begin(id: string, call: ToolCard): string[] {
    if (call.isShown) return [];
    call.isShown = true;
    last = id;
    const name = formatName(call);
    const about = cutToWidth(describeInput(call.input), width() - measureText(name) - 4);
    return [`${style.note("●")} ${style.strong(name)} ${style.dim(about)}`.trimEnd()];
  }

  function formatState({ isStarted, isShown }: ToolCard): string {
    if (isStarted) return "runs";
    // Without arguments, no approval has been requested yet.
    const wait = isShown ? describeWait?.() : undefined;
    return wait === undefined ? "waits" : `waits for ${wait}`;
  }

  /** Leaves room for the text next to the name. */
  function formatName({ title }: ToolCard): string {
    return cutToWidth(toSingleLine(title), Math.max(10, width() - 20));
  }

  function end(id: string, call: ToolCard, update: ToolUpdate): string[] {
    const isDone = update.status === "completed";
    const named = last === id ? "" : ` ${formatName(call)}`;
    const sign = isDone ? style.good("✓") : style.bad("✗");
    const { durationMs, executionDurationMs, errorCategory } = update.bridge;
    const facts = [
      ...(isDone ? [] : [ENDINGS.get(errorCategory ?? "") ?? "failed"]),
      ...(durationMs === undefined ? [] : [formatDuration(executionDurationMs ?? durationMs)]),
    ].join(", ");
    // The diff is more informative than the tool's own text about the change.
    const resultRows = isDone && call.diffs.length > 0 ? [] : formatResultLines(update, style);
    const diffs = (reviewedCalls.has(id) ? [] : call.diffs).flatMap((diff) =>
      formatDiff(diff, style, SHORT_DIFF),
    );
    const [only] = resultRows;
    const available = width() - measureText(named) - measureText(facts) - 8;
    const isShort = resultRows.length === 1 && only !== undefined && measureText(only) <= available;
    const head = `  ${sign}${named} ${style.dim(facts)}`.trimEnd();
    return [
      isShort ? `${head}${style.dim(` · ${only}`)}` : head,
      ...diffs.flatMap((line) => wrapWords(line, width() - 4)).map((row) => `    ${row}`),
      ...(isShort ? [] : shorten(resultRows, width() - 4).map((line) => `    ${line}`)),
    ];
  }

  /** Returns the first rows and a hint for the rest. */
  function shorten(lines: readonly string[], columns: number): string[] {
    const rows = lines.flatMap((line) => wrapWords(line, columns));
    const omitted = rows.length - MAX_ROWS;
    if (omitted <= 1) return rows.map((row) => style.dim(row));
    const showCommand = formatShowCommand();
    const hint = showCommand === undefined ? [] : wrapWords(`Show all: ${showCommand}`, columns);
    const omittedRow = `… ${pluralize(omitted, "more row")}`;
    return [...rows.slice(0, MAX_ROWS), omittedRow, ...hint].map((row) => style.dim(row));
  }

  return {
    update(update) {
      const { toolCallId: id, title, input, status, content } = update;
      if (endedCalls.has(id)) return [];
      const call = open.get(id) ?? {
        title: "a tool",
        input: undefined,
        isShown: false,
        isStarted: false,
        diffs: [],
      };
      open.set(id, call);
      call.title = title ?? call.title;
      call.input = input ?? call.input;
      call.diffs = content?.flatMap((item) => (item.type === "diff" ? [item] : [])) ?? call.diffs;
      call.isStarted ||= status === "in_progress";
      const isEnd = status === "completed" || status === "failed";
      const canShow = call.input !== undefined || call.isStarted || isEnd;
      const rows = canShow ? begin(id, call) : [];
      if (!isEnd) return rows;
      open.delete(id);
      endedCalls.add(id);
      return [...rows, ...end(id, call, update)];
    },
    markReviewed: (id) => void reviewedCalls.add(id),
    runningRows: () =>
      [...open.values()].map((call) =>
        style.dim(cutToWidth(`● ${toSingleLine(call.title)} ${formatState(call)}`, width())),
      ),
    clear() {
      open.clear();
      endedCalls.clear();
      reviewedCalls.clear();
    },
  };
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

function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 59_950) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
