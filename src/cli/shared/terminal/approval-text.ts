import { findSecretFiles } from "../../../bridge/policy-check/find-secret-files.ts";
import { isObject, toJsonText, type JsonObject, type JsonValue } from "../../../data/json.ts";
import type { ApprovalRequested } from "../../../domain/events/approval-events.ts";
import { MODE_SOURCE } from "../../../domain/session-mode.ts";
import type { FileDiff } from "../../../domain/tools/tool-output.ts";
import { toSingleLine, type Style } from "../../../inspect/trace-style.ts";
import { formatDiff } from "./format-diff.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/** A question as the terminal shows it. */
export interface ApprovalText {
  /** The tool and its arguments, on one line. */
  readonly summary: string;
  /** Short, so that it stays on one line: arguments are the model's, and could end in another question. */
  readonly question: string;
  /** What has to be known to answer. */
  readonly background: string;
  /** The same with nothing left out; absent where nothing was. */
  readonly fullText?: string;
}

/** What there is to say of a question, wherever it was asked. */
export interface ApprovalFacts {
  readonly action: string;
  readonly input: JsonObject | null;
  readonly diffs: readonly FileDiff[];
  /** Whether it is about letting something run, and not about how to go on. */
  readonly isToolRun: boolean;
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
  readonly previewProblem?: JsonObject;
}

export function readApprovalFacts(request: ApprovalRequested): ApprovalFacts {
  const { action, input, diffs = [], evidence = [], decision, question, attempt = 1 } = request;
  const previewProblem = evidence.find(
    ({ metadata }) => metadata["reason"] !== undefined,
  )?.metadata;
  const { prompt, risk } = decision?.approval ?? {};
  return {
    action,
    input,
    diffs,
    isToolRun: question !== "lost-invocation",
    isRerun: question !== "lost-invocation" && attempt > 1,
    secrets: decision === undefined ? [] : findSecretFiles(decision.context),
    ...(decision !== undefined && { reason: formatApprovalReason(decision) }),
    ...omitUndefined({ prompt, risk, previewProblem }),
  };
}

/** What is asked, why, how dangerous it is and what would change: nothing of it has to be looked for further up. */
export function formatApproval(facts: ApprovalFacts, style: Style): ApprovalText {
  const { diffs, action, input } = facts;
  const hasDiff = diffs.length > 0;
  const shortDiffs = diffs.flatMap((diff) => formatDiff(diff, style));
  const fullDiffs = diffs.flatMap((diff) => formatDiff(diff, style, FULL_DIFF));
  const call = formatCall(action, input);
  const summary = hasDiff
    ? formatCall(action, input && shortenArguments(input, MAX_ARGUMENT_LENGTH))
    : cutMiddle(call);
  const reasonRows = formatReasons(facts, style);
  const isCut = summary !== call || shortDiffs.join("\n") !== fullDiffs.join("\n");
  const fullLines = [...formatArguments(input), ...fullDiffs];
  return {
    summary,
    background: joinLines([
      style.strong(HEADING),
      ...indentLines([summary, ...reasonRows, ...shortDiffs]),
    ]),
    question: facts.isRerun
      ? "Run it again?"
      : facts.isToolRun
        ? `Run ${toSingleLine(action)}?`
        : "Go on?",
    ...(isCut && { fullText: joinLines(indentLines(fullLines)) }),
  };
}

/** Everything else that is printed is indented: no tool can make such a line. */
const HEADING = "── Spanline asks ──";
const FULL_DIFF = { hunks: Infinity, lines: Infinity, characters: Infinity };

/** Arguments for people who follow a run: none of them fills the screen. */
export function shortenArguments(input: JsonObject, maxLength: number): JsonObject {
  return mapStrings(input, (text) => cutText(text, maxLength));
}

/** What the diff shows in full. */
const MAX_ARGUMENT_LENGTH = 60;

function formatReasons(facts: ApprovalFacts, style: Style): string[] {
  const { action, reason, prompt, risk, secrets, previewProblem: unseen, diffs } = facts;
  return [
    // The question about a lost invocation has one sentence, as its action and as its reason.
    ...(reason === undefined || reason === `${action}.` ? [] : [`Why: ${toSingleLine(reason)}`]),
    ...(prompt === undefined ? [] : [style.strong(toSingleLine(prompt))]),
    ...(risk === undefined ? [] : [`Risk: ${style.warn(toSingleLine(risk))}`]),
    ...(secrets.length === 0
      ? []
      : [style.warn(`It names files where secrets are kept: ${toSingleLine(secrets.join(", "))}`)]),
    ...(diffs.length > 0 || unseen === undefined ? [] : [style.warn(formatMissingDiff(unseen))]),
  ];
}

function formatMissingDiff({ reason, message }: JsonObject): string {
  const why = toSingleLine(typeof message === "string" ? message : "it could not be made");
  return reason === "does_not_apply"
    ? `No diff: as the file is now, it would not be changed. ${why}`
    : `No diff: ${why}`;
}

function formatCall(action: string, input: JsonObject | null): string {
  return toSingleLine(input === null ? action : `${action} ${toJsonText(input)}`);
}

/** Both ends of a long call: what is worst in it may stand last. */
function cutMiddle(text: string): string {
  const omitted = text.length - HEAD - TAIL;
  if (omitted < MIN_CUT) return text;
  return `${text.slice(0, HEAD)} … ${omitted} more characters … ${text.slice(-TAIL)}`;
}

const HEAD = 800;
const TAIL = 400;
const MIN_CUT = 100;

function cutText(text: string, maxLength: number): string {
  const omitted = text.length - maxLength;
  return omitted <= maxLength / 2
    ? text
    : `${text.slice(0, maxLength)}… (${omitted} more characters)`;
}

/** Texts keep their lines here, where they are read rather than compared. */
function formatArguments(input: JsonObject | null): string[] {
  return Object.entries(input ?? {}).flatMap(([name, value]) => {
    const text = typeof value === "string" ? value : toJsonText(value);
    const lines = text.split("\n").map((line) => toSingleLine(line));
    return lines.length === 1
      ? [`${toSingleLine(name)}: ${lines[0]}`]
      : [`${toSingleLine(name)}:`, ...indentLines(lines)];
  });
}

function mapStrings(input: JsonObject, change: (text: string) => string): JsonObject {
  const mapValue = (value: JsonValue): JsonValue => {
    if (typeof value === "string") return change(value);
    if (Array.isArray(value)) return value.map(mapValue);
    return isObject(value) ? mapObject(value) : value;
  };
  const mapObject = (object: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(object).map(([name, value]) => [name, mapValue(value)]));
  return mapObject(input);
}

function indentLines(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}

function joinLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

/** What a decision says of why somebody is asked. */
interface ApprovalReason {
  readonly reason: string;
  /** The rule that asks, as it came; null where none does and the default holds. */
  readonly rule: object | null;
  readonly labels: readonly string[];
}

/** Why somebody is asked: the mode asks beside the policy, also about what was allowed for good. */
export function formatApprovalReason({ reason, rule, labels }: ApprovalReason): string {
  const source = isObject(rule) ? rule["source"] : undefined;
  if (!labels.includes(MODE_SOURCE) || source === MODE_SOURCE) return reason;
  return source === undefined ? ASK_MODE_REASON : `${ASK_MODE_REASON}. ${reason}`;
}

const ASK_MODE_REASON = 'The session is in the mode "ask"';
