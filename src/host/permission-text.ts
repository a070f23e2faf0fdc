import { jsonText, type JsonObject } from "../domain/json.ts";
import type {
  PermissionOption,
  PermissionQuestion,
  Rationale,
} from "../wire/acp/client/permission-question.ts";

/**
 * A question as lines for a person. It is made of the request and of why it is asked, and of nothing else that came along;
 * what an agent wrote stands in it as JSON, so that it cannot draw on a terminal.
 */
export function permissionText(question: PermissionQuestion): readonly string[] {
  const { approval, rationale, options, isYesOrNo } = question;
  const { action, args, truncated, principal, evidence, capabilities, deadline } = approval;
  const { approversRequired } = approval;
  return [
    `${quiet(action)} ${jsonLine(args)}`,
    ...(principal === null ? [] : [`asked by ${quiet(principal)}`]),
    ...(rationale === null ? [] : reasonLines(rationale)),
    ...evidence.map(({ kind, ref }) => `${quiet(kind)}: ${quiet(ref)}`),
    ...(capabilities.length === 0 ? [] : [`needs ${capabilities.map(quiet).join(", ")}`]),
    ...(approversRequired > 1 ? [`${approversRequired} people have to allow it`] : []),
    ...(truncated === null ? [] : [`a preview: all arguments have ${truncated.bytes} bytes`]),
    ...(hasChoices(options) ? [`one of: ${options.map(optionText).join(", ")}`] : []),
    ...(deadline === null
      ? []
      : [`${isYesOrNo ? "denied" : "given up"} if nobody answers by ${quiet(deadline)}`]),
  ];
}

/** More ways to answer than once, always and no. */
function hasChoices(options: readonly PermissionOption[]): boolean {
  return new Set(options.map(({ kind }) => kind)).size < options.length;
}

function optionText({ id, name }: PermissionOption): string {
  return `${quiet(id)} (${quiet(name)})`;
}

function reasonLines({ reason, labels, rule }: Rationale): readonly string[] {
  const why = reason === null ? [] : [`because: ${quiet(reason)}`];
  const by = rule === null ? [] : [`by ${ruleName(rule)}`];
  return [...why, ...by, ...(labels.length === 0 ? [] : [labels.map(quiet).join(", ")])];
}

function ruleName({ source, id, index }: JsonObject): string {
  const name = typeof id === "string" ? id : `rule ${jsonText(index ?? null)}`;
  return typeof source === "string" ? `${quiet(name)} of ${quiet(source)}` : quiet(name);
}

function jsonLine(value: unknown): string {
  const text = quiet(jsonText(value));
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
}

/** Without what moves a cursor, turns the direction of writing, or begins a line of its own. */
function quiet(text: string): string {
  return text.replaceAll(UNSEEN, (found) => jsonText(found).slice(1, -1).replace(UNSEEN, "\uFFFD"));
}

const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const MOST_SHOWN = 2000;
