import { findSecretFiles } from "../../../bridge/policy-check/find-secret-files.ts";
import { isObject, toJsonText, type JsonObject, type JsonValue } from "../../../data/json.ts";
import type { ApprovalRequested } from "../../../domain/events/approval-events.ts";
import { formatWorkerName } from "../../../domain/workers/worker.ts";
import { isToolQuestion } from "../../../domain/policy/approval-decision.ts";
import { MODE_SOURCE } from "../../../domain/session-mode.ts";
import type { FileDiff } from "../../../domain/tools/tool-output.ts";
import { toSingleLine, type Style } from "../../../inspect/trace-style.ts";
import { formatDiff } from "./format-diff.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/** An approval request as shown in the terminal. */
export interface ApprovalText {
  /** The tool and its arguments, on one line. */
  readonly summary: string;
  /**
   * Short, so the question fits a line: the model writes the arguments, and its text could end with a fake question.
   */
  readonly question: string;
  /** The facts needed for a decision, printed above the question. */
  readonly background: string;
  /** The background without omissions. Undefined if nothing was omitted. */
  readonly fullText?: string;
}

/** Facts of an approval request, from the log or from an ACP request. */
export interface ApprovalFacts {
  readonly action: string;
  readonly input: JsonObject | null;
  readonly diffs: readonly FileDiff[];
  /** False for a question about a lost invocation or a budget, which does not run a tool. */
  readonly isToolRun: boolean;
  /** True if the tool may have run before. */
  readonly isRerun: boolean;
  /** The reason for the request. */
  readonly reason?: string;
  /** The text of the rule for the approver. */
  readonly prompt?: string;
  readonly risk?: string;
  /** Files with secrets named by the arguments, as far as recognized. */
  readonly secrets: readonly string[];
  /** Evidence for a missing diff. */
  readonly previewProblem?: JsonObject;
  /** The name of the worker which asks, with its agent. Absent if the session itself asks. */
  readonly worker?: string;
}

export function readApprovalFacts(request: ApprovalRequested): ApprovalFacts {
  const { action, input, diffs = [], evidence = [], decision, question, attempt = 1 } = request;
  const worker = request.worker && formatWorkerName(request.worker);
  const previewProblem = evidence.find(
    ({ metadata }) => metadata["reason"] !== undefined,
  )?.metadata;
  const { prompt, risk } = decision?.approval ?? {};
  return {
    action,
    input,
    diffs,
    isToolRun: isToolQuestion(question),
    isRerun: isToolQuestion(question) && attempt > 1,
    secrets: decision === undefined ? [] : findSecretFiles(decision.context),
    ...(decision !== undefined && { reason: formatApprovalReason(decision) }),
    ...omitUndefined({ prompt, risk, previewProblem, worker }),
  };
}

/** Formats the request with reason, risk and diff. The approver needs nothing from further up in the terminal. */
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
  const askerRows =
    facts.worker === undefined ? [] : [`The worker ${toSingleLine(facts.worker)} asks:`];
  const isCut = summary !== call || shortDiffs.join("\n") !== fullDiffs.join("\n");
  const fullLines = [...formatArguments(input), ...fullDiffs];
  return {
    summary,
    background: joinLines([
      style.strong(HEADING),
      ...indentLines([...askerRows, summary, ...reasonRows, ...shortDiffs]),
    ]),
    question: facts.isRerun
      ? "Run it again?"
      : facts.isToolRun
        ? `Run ${toSingleLine(action)}?`
        : "Continue?",
    ...(isCut && { fullText: joinLines(indentLines(fullLines)) }),
  };
}

/** All other output is indented, so a tool cannot print a line that looks like this heading. */
const HEADING = "── Spanline asks ──";
const FULL_DIFF = { hunks: Infinity, lines: Infinity, characters: Infinity };

/** Shortens the string arguments of a tool call for people who follow a run, so no argument fills the screen. */
export function shortenArguments(input: JsonObject, maxLength: number): JsonObject {
  return mapStrings(input, (text) => cutText(text, maxLength));
}

/** Characters. Longer arguments are shown in full by the diff. */
const MAX_ARGUMENT_LENGTH = 60;

function formatReasons(facts: ApprovalFacts, style: Style): string[] {
  const { action, reason, prompt, risk, secrets, previewProblem: unseen, diffs } = facts;
  return [
    // An approval about a lost invocation has the same sentence as action and reason.
    ...(reason === undefined || reason === `${action}.` ? [] : [`Why: ${toSingleLine(reason)}`]),
    ...(prompt === undefined ? [] : [style.strong(toSingleLine(prompt))]),
    ...(risk === undefined ? [] : [`Risk: ${style.warn(toSingleLine(risk))}`]),
    ...(secrets.length === 0
      ? []
      : [
          style.warn(
            `The arguments name files that may contain secrets: ${toSingleLine(secrets.join(", "))}`,
          ),
        ]),
    ...(diffs.length > 0 || unseen === undefined ? [] : [style.warn(formatMissingDiff(unseen))]),
  ];
}

function formatMissingDiff({ reason, message }: JsonObject): string {
  const why = toSingleLine(typeof message === "string" ? message : "it could not be computed");
  return reason === "does_not_apply"
    ? `No diff: the change does not apply to the current file. ${why}`
    : `No diff: ${why}`;
}

function formatCall(action: string, input: JsonObject | null): string {
  return toSingleLine(input === null ? action : `${action} ${toJsonText(input)}`);
}

/** Shows both ends of a long tool call, because the dangerous part may be at the end. */
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

/** Strings keep their line breaks here, because people read them. */
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

/** The parts of a policy decision that explain an approval request. */
interface ApprovalReason {
  readonly reason: string;
  /** The rule that asks, unchanged. Null if no rule matches and the default applies. */
  readonly rule: object | null;
  readonly labels: readonly string[];
}

/** Formats the reason of a request. The session mode asks in addition to the policy, even about granted tools. */
export function formatApprovalReason({ reason, rule, labels }: ApprovalReason): string {
  const source = isObject(rule) ? rule["source"] : undefined;
  if (!labels.includes(MODE_SOURCE) || source === MODE_SOURCE) return reason;
  return source === undefined ? ASK_MODE_REASON : `${ASK_MODE_REASON}. ${reason}`;
}

const ASK_MODE_REASON = 'The session is in the mode "ask"';
