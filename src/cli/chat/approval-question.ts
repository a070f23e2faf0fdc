import { isObject } from "../../data/json.ts";
import { formatWorkerName } from "../../domain/workers/worker.ts";
import { MODE_SOURCE } from "../../domain/session-mode.ts";
import type { PermissionRequest, PermissionReply } from "../../host/index.ts";
import { toSingleLine, type Style } from "../../inspect/trace-style.ts";
import {
  formatApproval,
  type ApprovalFacts,
  formatApprovalReason,
} from "../shared/terminal/approval-text.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** A question as displayed in a chat. Typed lines are its answer. */
export interface ScreenQuestion<Reply> {
  /** The tool call, the reason for the request, and the choices. */
  readonly rows: readonly string[];
  /** The full text. Undefined if nothing was shortened. */
  readonly fullRows: readonly string[] | undefined;
  /** The prompt of the input line. */
  readonly prompt: string;
  /** Printed after an invalid answer, before the prompt. Default: a request for one of the choices. */
  readonly retryText?: string;
  /** Parses an answer. Undefined for an invalid answer; "show" requests the full text. */
  readonly read: (answer: string) => Reply | "show" | undefined;
}

/** An approval request as displayed in a chat. */
export type ApprovalQuestion = ScreenQuestion<PermissionReply>;

interface Choice {
  readonly key: string;
  /** Words with the same meaning as the key. */
  readonly aliases: readonly string[];
  readonly label: string;
  readonly reply: PermissionReply;
}

export function createApprovalQuestion(request: PermissionRequest, style: Style): ApprovalQuestion {
  const text = formatApproval(toApprovalFacts(request), style);
  const choices = listChoices(request);
  const showKey = findFreeKey("dv", new Set(choices.map(({ key }) => key))) ?? "show";
  const optionRows = [
    ...choices.map(({ key, label }) => `  ${style.strong(key)}  ${label}`),
    ...(text.fullText === undefined ? [] : [`  ${style.strong(showKey)}  Show everything`]),
  ];
  const keys = [
    ...choices.map(({ key }) => key),
    ...(text.fullText === undefined ? [] : [showKey]),
  ];
  return {
    rows: [...splitLines(text.background), ...formatRule(request), ...optionRows],
    fullRows: text.fullText === undefined ? undefined : splitLines(text.fullText),
    prompt: `${text.question} [${keys.join("/")}] `,
    read(line) {
      const answer = line.trim().toLowerCase();
      if (text.fullText !== undefined && answer === showKey) return "show";
      // The agent chooses the names of its options: a name may be empty, may equal the key of another option, or may
      // occur twice. Empty and ambiguous answers are invalid.
      if (answer === "") return undefined;
      const keyed = choices.find(({ key }) => answer === key);
      const [meant, ...others] = choices.filter(({ aliases }) => aliases.includes(answer));
      return (keyed ?? (others.length === 0 ? meant : undefined))?.reply;
    },
  };
}

function toApprovalFacts({
  approval,
  rationale,
  context,
  options,
}: PermissionRequest): ApprovalFacts {
  const { action, args, evidence } = approval;
  // The full arguments, which some agents send in addition to the shortened arguments.
  const input = isObject(context.input) ? context.input : args;
  const previewProblem = evidence.find(
    ({ metadata }) => metadata["reason"] !== undefined,
  )?.metadata;
  // The action of a budget is a question, and its options are a yes and a no, as those of a tool.
  const isToolRun = (options.length === 0 || isYesOrNo(options)) && !action.endsWith("?");
  const hasInput = isObject(input) && (isToolRun || Object.keys(input).length > 0);
  const { reason, rule, labels, prompt, risk } = rationale ?? NO_RATIONALE;
  return {
    action,
    input: hasInput ? input : null,
    diffs: context.content.flatMap((item) => (item.type === "diff" ? [item] : [])),
    isToolRun,
    isRerun: isToolRun && approval.attempt > 1,
    secrets: [],
    ...(reason !== null && { reason: formatApprovalReason({ reason, rule, labels }) }),
    ...(prompt !== null && { prompt }),
    ...(risk !== null && { risk }),
    ...omitUndefined({
      previewProblem,
      worker: context.worker && formatWorkerName(context.worker),
    }),
  };
}

const NO_RATIONALE = { reason: null, rule: null, labels: [], prompt: null, risk: null };

/** Formats the rule that asks and the affected paths. */
function formatRule({ rationale, context, approval }: PermissionRequest): string[] {
  const { paths } = context;
  const { id, source } = rationale?.rule ?? {};
  // A session mode is not a rule of the policy, so it has no id to look up.
  const isRule = typeof id === "string" && source !== MODE_SOURCE;
  return [
    ...(isRule ? [`  Rule: ${toSingleLine(id)}`] : []),
    ...(paths.length === 0 ? [] : [`  Paths: ${paths.map(toSingleLine).join(", ")}`]),
    ...(approval.approversRequired > 1
      ? [`  ${approval.approversRequired} people must allow it`]
      : []),
  ];
}

function isYesOrNo(options: PermissionRequest["options"]): boolean {
  return options.filter(({ kind }) => kind === "allow_once").length === 1;
}

function listChoices({ options }: PermissionRequest): Choice[] {
  if (options.length === 0) {
    return [
      { key: "y", aliases: ["yes", "allow"], label: "Allow", reply: "allow" },
      { key: "n", aliases: ["no", "deny"], label: "Deny", reply: "deny" },
    ];
  }
  const isYesNo = isYesOrNo(options);
  const usedKeys = new Set<string>();
  return options.map(({ id, name, kind }, at) => {
    const isFirst = options.findIndex((option) => option.kind === kind) === at;
    const usual = isYesNo && isFirst ? USUAL_CHOICES.get(kind) : undefined;
    const key = findFreeKey(`${usual?.key ?? ""}${id.toLowerCase()}`, usedKeys) ?? id;
    usedKeys.add(key);
    const aliases = [...(usual?.aliases ?? []), id.toLowerCase(), name.toLowerCase()];
    return { key: toSingleLine(key), aliases, label: toSingleLine(name), reply: { option: id } };
  });
}

/** Returns the first letter not used by another choice. */
function findFreeKey(preferredKeys: string, usedKeys: ReadonlySet<string>): string | undefined {
  return (preferredKeys + LETTERS).match(/[a-z]/g)?.find((letter) => !usedKeys.has(letter));
}

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const USUAL_CHOICES: ReadonlyMap<
  string,
  { readonly key: string; readonly aliases: readonly string[] }
> = new Map([
  ["allow_once", { key: "y", aliases: ["yes"] }],
  ["allow_always", { key: "a", aliases: ["always"] }],
  ["reject_once", { key: "n", aliases: ["no"] }],
]);

function splitLines(text: string): string[] {
  return text.replace(/\n$/, "").split("\n");
}
