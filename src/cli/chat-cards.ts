import { counted } from "../domain/counted.ts";
import { isObject, jsonText, type JsonValue } from "../domain/json.ts";
import type { FileDiff, SeenTool } from "../host/index.ts";
import { oneLine, type Style } from "../inspect/style.ts";
import { diffLines } from "./diff-lines.ts";
import { foldedWords } from "./folded-words.ts";
import { cut, textWidth } from "./markdown/text-width.ts";

export interface CardOptions {
  readonly style: Style;
  readonly width: () => number;
  /** How to see all of what was shortened, where that can be said. */
  readonly wholeBy: () => string | undefined;
  /** What a call waits for that does not run yet, where that can be said. */
  readonly waitsFor?: () => string | undefined;
}

/** Calls of tools, each as a line when it begins and another when it ends. */
export interface ToolCards {
  /** Rows that are new. */
  told(update: SeenTool): readonly string[];
  /** Somebody was asked about this call, and saw what it would change. */
  asked(toolCallId: string): void;
  /** A row for each call that is under way. */
  running(): readonly string[];
  /** The turn is over. */
  clear(): void;
}

interface Call {
  title: string;
  input: JsonValue | undefined;
  isShown: boolean;
  isStarted: boolean;
  diffs: readonly FileDiff[];
}

export function toolCards({ style, width, wholeBy, waitsFor }: CardOptions): ToolCards {
  const open = new Map<string, Call>();
  const ended = new Set<string>();
  const seen = new Set<string>();
  /** The call that was shown last: what comes of it needs no name. */
  let last = "";

  function begin(id: string, call: Call): string[] {
    if (call.isShown) return [];
    call.isShown = true;
    last = id;
    const name = nameOf(call);
    const about = cut(aboutOf(call.input), width() - textWidth(name) - 4);
    return [`${style.note("●")} ${style.strong(name)} ${style.dim(about)}`.trimEnd()];
  }

  function doing({ isStarted, isShown }: Call): string {
    if (isStarted) return "runs";
    // Before its arguments are there, nobody has been asked.
    const what = isShown ? waitsFor?.() : undefined;
    return what === undefined ? "waits" : `waits for ${what}`;
  }

  /** With room for what stands beside it. */
  function nameOf({ title }: Call): string {
    return cut(oneLine(title), Math.max(10, width() - 20));
  }

  function end(id: string, call: Call, update: SeenTool): string[] {
    const isDone = update.status === "completed";
    const named = last === id ? "" : ` ${nameOf(call)}`;
    const sign = isDone ? style.good("✓") : style.bad("✗");
    const { durationMs, executionDurationMs, errorCategory } = update.bridge;
    const facts = [
      ...(isDone ? [] : [ENDINGS.get(errorCategory ?? "") ?? "failed"]),
      ...(durationMs === undefined ? [] : [durationText(executionDurationMs ?? durationMs)]),
    ].join(", ");
    // What was changed says more than what the tool says about it.
    const shown = isDone && call.diffs.length > 0 ? [] : resultLines(update, style);
    const diffs = (seen.has(id) ? [] : call.diffs).flatMap((diff) => diffLines(diff, style, SHORT));
    const [only] = shown;
    const room = width() - textWidth(named) - textWidth(facts) - 8;
    const isShort = shown.length === 1 && only !== undefined && textWidth(only) <= room;
    const head = `  ${sign}${named} ${style.dim(facts)}`.trimEnd();
    return [
      isShort ? `${head}${style.dim(` · ${only}`)}` : head,
      ...diffs.flatMap((line) => foldedWords(line, width() - 4)).map((row) => `    ${row}`),
      ...(isShort ? [] : shortened(shown, width() - 4).map((line) => `    ${line}`)),
    ];
  }

  /** The first rows, and how to see the others. */
  function shortened(lines: readonly string[], columns: number): string[] {
    const rows = lines.flatMap((line) => foldedWords(line, columns));
    const more = rows.length - MOST_ROWS;
    if (more <= 1) return rows.map((row) => style.dim(row));
    const whole = wholeBy();
    const hint = whole === undefined ? [] : foldedWords(`All of it: ${whole}`, columns);
    const left = `… ${counted(more, "more row")}`;
    return [...rows.slice(0, MOST_ROWS), left, ...hint].map((row) => style.dim(row));
  }

  return {
    told(update) {
      const { toolCallId: id, title, input, status, content } = update;
      if (ended.has(id)) return [];
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
      call.diffs = content?.flatMap((one) => (one.type === "diff" ? [one] : [])) ?? call.diffs;
      call.isStarted ||= status === "in_progress";
      const isEnd = status === "completed" || status === "failed";
      const isKnown = call.input !== undefined || call.isStarted || isEnd;
      const rows = isKnown ? begin(id, call) : [];
      if (!isEnd) return rows;
      open.delete(id);
      ended.add(id);
      return [...rows, ...end(id, call, update)];
    },
    asked: (id) => void seen.add(id),
    running: () =>
      [...open.values()].map((call) =>
        style.dim(cut(`● ${oneLine(call.title)} ${doing(call)}`, width())),
      ),
    clear() {
      open.clear();
      ended.clear();
      seen.clear();
    },
  };
}

const MOST_ROWS = 6;
const SHORT = { pieces: 4, lines: 10, characters: 160 };

const ENDINGS: ReadonlyMap<string, string> = new Map([
  ["permission_denied", "denied"],
  ["cancelled", "cancelled"],
  ["timeout", "took too long"],
  ["schema_validation", "refused"],
  ["unknown", "nobody knows what came of it"],
]);

/** What a call is about: the one argument that says it, or all of them. */
function aboutOf(input: JsonValue | undefined): string {
  if (input === undefined || input === null) return "";
  if (!isObject(input)) return oneLine(typeof input === "string" ? input : jsonText(input));
  const telling = TELLING.map((name) => (Object.hasOwn(input, name) ? input[name] : undefined));
  const found = telling.find((value) => typeof value === "string" && value !== "");
  if (typeof found === "string") return oneLine(found);
  const values = Object.values(input);
  const [only] = values;
  if (values.length === 1 && typeof only === "string") return oneLine(only);
  return values.length === 0 ? "" : oneLine(jsonText(input));
}

const TELLING = ["command", "path", "file_path", "pattern", "query", "url"];

function resultLines({ content = [], bridge, status }: SeenTool, style: Style): string[] {
  const texts = content.flatMap((one) => (one.type === "text" ? [withoutFence(one.text)] : []));
  const error = status === "failed" && typeof bridge.error === "string" ? [bridge.error] : [];
  const said = texts.length > 0 ? texts : error;
  const others = content.filter(({ type }) => type === "other").length;
  const lines = said.flatMap((text) => text.trimEnd().split("\n")).map(oneLine);
  const shown = lines.join("") === "" ? [] : lines;
  return others === 0 ? shown : [...shown, style.dim(`(${counted(others, "thing")} not shown)`)];
}

/** Commands say their output as a block of code. */
function withoutFence(text: string): string {
  const fence = /^`{3,}/.exec(text)?.[0];
  const whole = text.trimEnd();
  const from = whole.indexOf("\n") + 1;
  if (fence === undefined || from === 0 || !whole.endsWith(fence)) return text;
  return whole.slice(from, -fence.length);
}

function durationText(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 59_950) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
