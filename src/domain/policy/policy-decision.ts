import type { JsonObject } from "../../data/json.ts";
import type { SideEffect, ToolKind } from "../tools/tool-traits.ts";

/** The decision about one tool call, with its reasons. */
export interface PolicyDecision {
  readonly action: PolicyAction;
  readonly reason: string;
  /** Null if no rule matched and the default applies. */
  readonly rule: MatchedRule | null;
  /** Further rules which require approval: approving one rule does not satisfy another. */
  readonly otherRules?: readonly (MatchedRule | null)[];
  /** Sorted, without duplicates. */
  readonly labels: readonly string[];
  readonly context: PolicyContext;
  /** Number of different principals who must approve. 0 unless the action is `ask`. */
  readonly approvers: number;
  /** Text of the matching rule for the approver. */
  readonly approval?: ApprovalNote;
}

export interface ApprovalNote {
  readonly prompt?: string;
  readonly risk?: string;
  readonly metadata?: JsonObject;
}

export type PolicyAction = "allow" | "ask" | "deny";

export interface MatchedRule {
  /** The section of the policy, such as `rules` or `auto_deny`. */
  readonly source: string;
  readonly action: PolicyAction;
  readonly id: string | null;
  readonly index: number;
  /** Index among merged policies. 0: the outermost. */
  readonly layer?: number;
}

/** The normalized facts evaluated by the rules. */
export interface PolicyContext {
  readonly tool: string;
  readonly kind: ToolKind;
  readonly sideEffect: SideEffect;
  readonly paths: readonly PathFact[];
  /** Why the list of paths may be incomplete. No path rule allows such a call. */
  readonly pathsUnclear?: string;
  readonly capabilities: readonly string[];
  /** The whole command with collapsed whitespace. */
  readonly command?: string;
  /** Every program the command runs, in order. An allowing rule must allow each. */
  readonly simpleCommands?: readonly SimpleCommand[];
  /** Command lines joined by `|`, `;` and similar, in normalized spelling. Absent if equal to the command. */
  readonly commandLines?: readonly string[];
  /** Why the command could not be parsed with certainty. No rule allows such a command. */
  readonly commandUnparsed?: string;
  readonly urls?: readonly string[];
  readonly domains?: readonly string[];
  readonly method?: string;
  readonly mcpServer?: string;
  readonly mcpTool?: string;
  /** Number of earlier identical calls in this session. */
  readonly repeats: number;
  /** Upper bound of identical calls beyond `repeats`: a session with very many calls does not store all of them. */
  readonly uncountedRepeats?: number;
}

/** A program and its arguments, unquoted. */
export interface SimpleCommand {
  /** As written. Null if only known when the command runs. */
  readonly program: string | null;
  /** The program first. U+FFFC stands for text only known when the command runs, possibly empty. */
  readonly words: readonly string[];
}

/** The target of a path argument, resolved on disk. */
export interface PathFact {
  /** Position in the arguments, such as `path` or `paths[1]`. */
  readonly argument: string;
  /** As passed by the model. */
  readonly input: string;
  /**
   * - `inside`: in the session's workspace, symlinks resolved.
   * - `outside`: elsewhere on this machine.
   * - `protected`: Spanline's own data or configuration.
   * - `invalid`: not a path, or not resolvable.
   */
  readonly location: "inside" | "outside" | "protected" | "invalid";
  /**
   * Relative to the workspace (or to `folder`, if set), with `/`, symlinks resolved, names as stored on disk. Null
   * unless `inside`.
   */
  readonly workspacePath: string | null;
  /** The additional workspace folder which contains the path. Absent for the main one. */
  readonly folder?: string;
  /** Absolute path. Null if invalid. */
  readonly hostPath: string | null;
  readonly reason?: string;
}

/** Formats the target for people: relative to the workspace if inside, else absolute. */
export function formatPathTarget({ folder, workspacePath, hostPath, input }: PathFact): string {
  return (folder === undefined ? workspacePath : null) ?? hostPath ?? input;
}

/** A path which could not be resolved. */
export function createUnresolvedPath(
  { argument, input }: Pick<PathFact, "argument" | "input">,
  reason: string,
): PathFact {
  return { argument, input, location: "invalid", workspacePath: null, hostPath: null, reason };
}
