import { toJsonText, type JsonObject } from "../../data/json.ts";
import type {
  PermissionOption,
  PermissionRequest,
  Rationale,
} from "../../wire/acp/client/read-permission-request.ts";

/**
 * A question as lines for a person. It is made of the request and of why it is asked, and of nothing else that came along;
 * what an agent wrote stands in it as JSON, so that it cannot draw on a terminal.
 */
export function formatPermissionRequest(request: PermissionRequest): readonly string[] {
  const { approval, rationale, options, isYesOrNo } = request;
  const { action, args, truncated, principal, evidence, capabilities, deadline } = approval;
  const { approversRequired } = approval;
  return [
    `${escapeControlCharacters(action)} ${formatJsonLine(args)}`,
    ...(principal === null ? [] : [`asked by ${escapeControlCharacters(principal)}`]),
    ...(rationale === null ? [] : formatReason(rationale)),
    ...evidence.map(
      ({ kind, ref }) => `${escapeControlCharacters(kind)}: ${escapeControlCharacters(ref)}`,
    ),
    ...(capabilities.length === 0
      ? []
      : [`needs ${capabilities.map(escapeControlCharacters).join(", ")}`]),
    ...(approversRequired > 1 ? [`${approversRequired} people have to allow it`] : []),
    ...(truncated === null ? [] : [`a preview: all arguments have ${truncated.bytes} bytes`]),
    ...(hasChoices(options)
      ? [`one of: ${options.map(({ name }) => escapeControlCharacters(name)).join(", ")}`]
      : []),
    ...(deadline === null
      ? []
      : [
          `${isYesOrNo ? "denied" : "given up"} if nobody answers by ${escapeControlCharacters(deadline)}`,
        ]),
  ];
}

/** More ways to answer than once, always and no. */
function hasChoices(options: readonly PermissionOption[]): boolean {
  return new Set(options.map(({ kind }) => kind)).size < options.length;
}

function formatReason({ reason, labels, rule }: Rationale): readonly string[] {
  const why = reason === null ? [] : [`because: ${escapeControlCharacters(reason)}`];
  const by = rule === null ? [] : [`by ${formatRuleName(rule)}`];
  return [
    ...why,
    ...by,
    ...(labels.length === 0 ? [] : [labels.map(escapeControlCharacters).join(", ")]),
  ];
}

function formatRuleName({ source, id, index }: JsonObject): string {
  const name = typeof id === "string" ? id : `rule ${toJsonText(index ?? null)}`;
  return typeof source === "string"
    ? `${escapeControlCharacters(name)} of ${escapeControlCharacters(source)}`
    : escapeControlCharacters(name);
}

function formatJsonLine(value: unknown): string {
  const text = escapeControlCharacters(toJsonText(value));
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
}

/** Without what moves a cursor, turns the direction of writing, or begins a line of its own. */
function escapeControlCharacters(text: string): string {
  return text.replaceAll(INVISIBLE_CHARACTERS, (character) =>
    toJsonText(character).slice(1, -1).replace(INVISIBLE_CHARACTERS, "\uFFFD"),
  );
}

const INVISIBLE_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const MAX_SHOWN_CHARACTERS = 2000;
