import { namesSecrets } from "../bridge/names-secrets.ts";
import type { ApprovalRequested } from "../domain/agent-event.ts";
import { isObject, jsonText, type JsonObject, type JsonValue } from "../domain/json.ts";
import type { FileDiff } from "../domain/tool-output.ts";
import { oneLine, type Style } from "../inspect/style.ts";
import { diffLines } from "./diff-lines.ts";
import { whyAsked } from "./why-asked.ts";

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

/** What there is to say of a question, wherever it was asked. */
export interface QuestionFacts {
  readonly action: string;
  readonly input: JsonObject | null;
  readonly diffs: readonly FileDiff[];
  /** Whether it is about letting something run, and not about how to go on. */
  readonly isRun: boolean;
  /** Whether the tool may have run before. */
  readonly isRerun: boolean;
  /** Why it is asked. */
  readonly reason?: string;
  /** What the rule that asks wants people to be told. */
  readonly prompt?: string;
  readonly risk?: string;
  /** Files where secrets are kept that it seems to name. */
  readonly secrets: readonly string[];
  /** Why there is no diff. */
  readonly unseen?: JsonObject;
}

export function questionFacts(request: ApprovalRequested): QuestionFacts {
  const { action, input, diffs = [], evidence = [], decision, question, attempt = 1 } = request;
  const unseen = evidence.find(({ metadata }) => metadata["reason"] !== undefined)?.metadata;
  const { prompt, risk } = decision?.approval ?? {};
  return {
    action,
    input,
    diffs,
    isRun: question !== "lost-call",
    isRerun: question !== "lost-call" && attempt > 1,
    secrets: decision === undefined ? [] : namesSecrets(decision.context),
    ...(decision !== undefined && { reason: whyAsked(decision) }),
    ...(prompt !== undefined && { prompt }),
    ...(risk !== undefined && { risk }),
    ...(unseen !== undefined && { unseen }),
  };
}

/** What is asked, why, how dangerous it is and what would change: nothing of it has to be looked for further up. */
export function questionText(facts: QuestionFacts, style: Style): QuestionText {
  const { diffs, action, input } = facts;
  const hasDiff = diffs.length > 0;
  const shortDiffs = diffs.flatMap((diff) => diffLines(diff, style));
  const wholeDiffs = diffs.flatMap((diff) => diffLines(diff, style, WHOLE));
  const call = callText(action, input);
  const what = hasDiff
    ? callText(action, input && shortened(input, SHOWN_ONCE))
    : withoutMiddle(call);
  const whyLines = reasonLines(facts, style);
  const isCut = what !== call || shortDiffs.join("\n") !== wholeDiffs.join("\n");
  const wholeLines = [...argumentLines(input), ...wholeDiffs];
  return {
    what,
    above: textOf([style.strong(HEADING), ...indented([what, ...whyLines, ...shortDiffs])]),
    question: facts.isRerun ? "Run it again?" : facts.isRun ? `Run ${oneLine(action)}?` : "Go on?",
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

function reasonLines(facts: QuestionFacts, style: Style): string[] {
  const { reason, prompt, risk, secrets, unseen, diffs } = facts;
  return [
    ...(reason === undefined ? [] : [`Why: ${oneLine(reason)}`]),
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
