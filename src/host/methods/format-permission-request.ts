import { toJsonText, type JsonObject } from "../../data/json.ts";
import { formatWorkerName } from "../../domain/workers/worker.ts";
import type {
  PermissionOption,
  PermissionRequest,
  Rationale,
} from "../../wire/acp/client/read-permission-request.ts";

/**
 * Formats a permission request as lines for a person. Uses only the request and its rationale. Strings from the agent
 * are escaped or formatted as JSON, so they cannot control a terminal.
 */
export function formatPermissionRequest(request: PermissionRequest): readonly string[] {
  const { approval, rationale, options, isYesOrNo, context } = request;
  const { action, args, truncated, principal, evidence, capabilities, deadline } = approval;
  const { approversRequired } = approval;
  return [
    `${escapeControlCharacters(action)} ${formatJsonLine(args)}`,
    ...(context.worker === undefined
      ? []
      : [`requested by the worker ${escapeControlCharacters(formatWorkerName(context.worker))}`]),
    ...(principal === null || context.worker !== undefined
      ? []
      : [`requested by ${escapeControlCharacters(principal)}`]),
    ...(rationale === null ? [] : formatReason(rationale)),
    ...evidence.map(
      ({ kind, ref }) => `${escapeControlCharacters(kind)}: ${escapeControlCharacters(ref)}`,
    ),
    ...(capabilities.length === 0
      ? []
      : [`needs ${capabilities.map(escapeControlCharacters).join(", ")}`]),
    ...(approversRequired > 1 ? [`${approversRequired} people must approve`] : []),
    ...(truncated === null ? [] : [`a preview: all arguments have ${truncated.bytes} bytes`]),
    ...(hasChoices(options)
      ? [`options: ${options.map(({ name }) => escapeControlCharacters(name)).join(", ")}`]
      : []),
    ...(deadline === null
      ? []
      : [
          `${isYesOrNo ? "denied" : "cancelled"} without a decision by ${escapeControlCharacters(deadline)}`,
        ]),
  ];
}

/** Whether there are more choices than once, always and no. */
function hasChoices(options: readonly PermissionOption[]): boolean {
  return new Set(options.map(({ kind }) => kind)).size < options.length;
}

function formatReason({ reason, labels, rule }: Rationale): readonly string[] {
  const why = reason === null ? [] : [`because: ${escapeControlCharacters(reason)}`];
  const by = rule === null ? [] : [`rule: ${formatRuleName(rule)}`];
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

/** Escapes characters that move the cursor, change the writing direction or start a new line. */
function escapeControlCharacters(text: string): string {
  return text.replaceAll(INVISIBLE_CHARACTERS, (character) =>
    toJsonText(character).slice(1, -1).replace(INVISIBLE_CHARACTERS, "\uFFFD"),
  );
}

const INVISIBLE_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const MAX_SHOWN_CHARACTERS = 2000;
