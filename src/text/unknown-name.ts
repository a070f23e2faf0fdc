import { toJsonText } from "../data/json.ts";
import { formatValue } from "./format-value.ts";
import { pluralize } from "./pluralize.ts";
import { suggestNames } from "./suggest-name.ts";

/** Everything that a person can name. A message starts with the kind. */
export type NameKind =
  | "Agent"
  | "Artifact"
  | "Brain"
  | "Command"
  | "Context"
  | "Configuration option"
  | "Conversation"
  | "Decision"
  | "Endpoint"
  | "Frame"
  | "Grant"
  | "Harness"
  | "Harness tag"
  | "Item"
  | "Key"
  | "Mode"
  | "Open approval"
  | "Option"
  | "Prompt"
  | "Push notification config"
  | "Resource"
  | "Response"
  | "Session"
  | "Shell"
  | "Skill"
  | "Switch"
  | "Task"
  | "Tool"
  | "Worker";

export interface KnownNames {
  /**
   * The known names, for the list and the suggestion. Default: none. Every name may appear in the message, so pass only
   * names that the caller may see.
   */
  readonly names?: readonly string[] | undefined;
  /** False: the names serve only for the suggestion. Default: true. */
  readonly isListed?: boolean;
  /** The name in the message, such as the path of a key. Default: the name itself. */
  readonly path?: string;
  /** The place of the lookup, such as `in this session`. */
  readonly where?: string | undefined;
  /** How to solve the problem if no name is similar. */
  readonly fix?: string | undefined;
}

/**
 * The standard wording for an unknown name, without a full stop:
 *
 *     Agent "dmeo" does not exist: expected "demo" or "reviewer". Fix: did you mean "demo"?
 *
 * A suggestion replaces a list of more than 5 names. Without a suggestion the list has at most 20 names.
 */
export function formatUnknownName(
  kind: NameKind,
  name: string,
  { names = [], isListed = true, path = name, where, fix }: KnownNames = {},
): string {
  const suggestion = suggestFix(name, names);
  const hasList = isListed && names.length > 0;
  const isShort = suggestion === undefined || names.length <= MAX_NAMES_BESIDE_SUGGESTION;
  const advice = suggestion ?? fix;
  return [
    `${kind} ${quoteName(path)} does not exist`,
    where === undefined ? "" : ` ${where}`,
    hasList && isShort ? `: expected ${formatNames(names)}` : "",
    advice === undefined ? "" : `. Fix: ${advice}`,
  ].join("");
}

/** `did you mean "a"?`, with the most similar name. Undefined if no name is similar. */
export function suggestFix(name: unknown, names: readonly string[]): string | undefined {
  if (typeof name !== "string") return undefined;
  const [similar] = suggestNames(name.slice(0, MAX_COMPARED), names);
  return similar === undefined ? undefined : `did you mean ${formatValue(similar)}?`;
}

/** `"a", "b" or "c"`. After 20 names only the number of the others follows. */
export function formatNames(names: readonly string[]): string {
  const distinct = [...new Set(names)];
  const listed = distinct.slice(0, MAX_NAMES).map(formatValue);
  const omitted = distinct.length - listed.length;
  const last = omitted > 0 ? pluralize(omitted, "other") : listed.pop();
  return listed.length === 0 ? (last ?? "none") : `${listed.join(", ")} or ${last}`;
}

function quoteName(name: string): string {
  return toJsonText(name.length <= MAX_SHOWN ? name : `${name.slice(0, MAX_SHOWN)}…`);
}

const MAX_NAMES = 20;
const MAX_NAMES_BESIDE_SUGGESTION = 5;
/** Characters. The comparison is quadratic, and the sender chooses the length. */
const MAX_COMPARED = 100;
const MAX_SHOWN = 200;
