import { namesSecrets } from "../bridge/names-secrets.ts";
import type { ApprovalRequested } from "../domain/agent-event.ts";
import { isObject, jsonText, type JsonObject, type JsonValue } from "../domain/json.ts";
import { oneLine, type Style } from "../inspect/style.ts";
import { diffLines } from "./diff-lines.ts";

/** A question as the terminal shows it. */
export interface QuestionText {
  /** The tool and its arguments, on one line. */
  readonly what: string;
  /** Short, so that it stays on one line: arguments are the model's, and could end in another question. */
  readonly question: string;
  /** What has to be known to answer. */
  readonly above: string;
  /** The same with nothing left out; absent where nothing was. */
  readonly whole?: string;
}

/** What is asked, why, how dangerous it is and what would change: nothing of it has to be looked for further up. */
export function questionText(request: ApprovalRequested, style: Style): QuestionText {
  const { diffs = [], action, input } = request;
  const hasDiff = diffs.length > 0;
  const shortDiffs = diffs.flatMap((diff) => diffLines(diff, style));
  const wholeDiffs = diffs.flatMap((diff) => diffLines(diff, style, WHOLE));
  const call = callText(action, input);
  const what = hasDiff
    ? callText(action, input && shortened(input, SHOWN_ONCE))
    : withoutMiddle(call);
  const whyLines = reasonLines(request, style);
  const isCut = what !== call || shortDiffs.join("\n") !== wholeDiffs.join("\n");
  const wholeLines = [...argumentLines(input), ...wholeDiffs];
  return {
    what,
    above: textOf([style.strong(HEADING), ...indented([what, ...whyLines, ...shortDiffs])]),
    question: request.question === "run" ? `Run ${oneLine(action)}?` : "Go on?",
    ...(isCut && { whole: textOf(indented(wholeLines)) }),
  };
}

/** Everything else that is printed is indented: no tool can make such a line. */
const HEADING = "── Spanline asks ──";
const WHOLE = { pieces: Infinity, lines: Infinity, characters: Infinity };

/** Arguments for people who follow a run: none of them fills the screen. */
export function shortened(input: JsonObject, most: number): JsonObject {
  return mapTexts(input, (text) => cutText(text, most));
}

/** What the diff shows in full. */
const SHOWN_ONCE = 60;

function reasonLines(request: ApprovalRequested, style: Style): string[] {
  const { decision, diffs = [], evidence = [] } = request;
  const { prompt, risk } = decision?.approval ?? {};
  const unseen = evidence.find(({ metadata }) => metadata["reason"] !== undefined)?.metadata;
  const secrets = decision === undefined ? [] : namesSecrets(decision.context);
  return [
    ...(decision === undefined ? [] : [`Why: ${oneLine(decision.reason)}`]),
    ...(prompt === undefined ? [] : [style.strong(oneLine(prompt))]),
    ...(risk === undefined ? [] : [`Risk: ${style.warn(oneLine(risk))}`]),
    ...(secrets.length === 0
      ? []
      : [style.warn(`It names files where secrets are kept: ${oneLine(secrets.join(", "))}`)]),
    ...(diffs.length > 0 || unseen === undefined ? [] : [style.warn(noDiff(unseen))]),
  ];
}

function noDiff({ reason, message }: JsonObject): string {
  const why = oneLine(typeof message === "string" ? message : "it could not be made");
  return reason === "does_not_apply"
    ? `No diff: as the file is now, it would not be changed. ${why}`
    : `No diff: ${why}`;
}

function callText(action: string, input: JsonObject | null): string {
  return oneLine(input === null ? action : `${action} ${jsonText(input)}`);
}

/** Both ends of a long call: what is worst in it may stand last. */
function withoutMiddle(text: string): string {
  const more = text.length - HEAD - TAIL;
  if (more < LEAST_CUT) return text;
  return `${text.slice(0, HEAD)} … ${more} more characters … ${text.slice(-TAIL)}`;
}

const HEAD = 800;
const TAIL = 400;
const LEAST_CUT = 100;

function cutText(text: string, most: number): string {
  const more = text.length - most;
  return more <= most / 2 ? text : `${text.slice(0, most)}… (${more} more characters)`;
}

/** Texts keep their lines here, where they are read rather than compared. */
function argumentLines(input: JsonObject | null): string[] {
  return Object.entries(input ?? {}).flatMap(([name, value]) => {
    const text = typeof value === "string" ? value : jsonText(value);
    const lines = text.split("\n").map((line) => oneLine(line));
    return lines.length === 1
      ? [`${oneLine(name)}: ${lines[0]}`]
      : [`${oneLine(name)}:`, ...indented(lines)];
  });
}

function mapTexts(input: JsonObject, change: (text: string) => string): JsonObject {
  const changed = (value: JsonValue): JsonValue => {
    if (typeof value === "string") return change(value);
    if (Array.isArray(value)) return value.map(changed);
    return isObject(value) ? mapped(value) : value;
  };
  const mapped = (object: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(object).map(([name, value]) => [name, changed(value)]));
  return mapped(input);
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}
