import type { JsonObject } from "../../data/json.ts";
import type { SideEffect, ToolKind } from "../tools/tool-traits.ts";

/** What is to become of one call of a tool, and why. */
export interface PolicyDecision {
  readonly action: PolicyAction;
  readonly reason: string;
  /** Null where no rule decided and the default holds. */
  readonly rule: MatchedRule | null;
  /** What else asks, where several do: a yes to one rule is none to another. */
  readonly otherRules?: readonly (MatchedRule | null)[];
  /** Sorted, each once. */
  readonly labels: readonly string[];
  readonly context: PolicyContext;
  /** How many different principals have to say yes; 0 unless the action is `ask`. */
  readonly approvers: number;
  /** What the rule that asks wants people to be told. */
  readonly approval?: ApprovalNote;
}

export interface ApprovalNote {
  readonly prompt?: string;
  readonly risk?: string;
  readonly metadata?: JsonObject;
}

export type PolicyAction = "allow" | "ask" | "deny";

export interface MatchedRule {
  /** Which part of the policy it stands in, such as `rules` or `auto_deny`. */
  readonly source: string;
  readonly action: PolicyAction;
  readonly id: string | null;
  readonly index: number;
  /** Which of several merged policies it is of, the outermost being 0. */
  readonly layer?: number;
}

/** What the rules were asked about: all of it normalised. */
export interface PolicyContext {
  readonly tool: string;
  readonly kind: ToolKind;
  readonly sideEffect: SideEffect;
  readonly paths: readonly PathFact[];
  /** Why it is not certain that these are its paths. No rule allows such a call by them. */
  readonly pathsUnclear?: string;
  readonly capabilities: readonly string[];
  /** The whole command, its white space collapsed. */
  readonly command?: string;
  /** Everything that the command runs, in order: a rule that allows has to allow each. */
  readonly simpleCommands?: readonly SimpleCommand[];
  /** What it joins by `|`, `;` and the like, in one spelling, where that is another than the command's. */
  readonly commandLines?: readonly string[];
  /** Why it is not certain what the command runs. No rule allows such a command. */
  readonly commandUnparsed?: string;
  readonly urls?: readonly string[];
  readonly domains?: readonly string[];
  readonly method?: string;
  readonly mcpServer?: string;
  readonly mcpTool?: string;
  /** How often this very call was made before in its session. */
  readonly repeats: number;
  /** How much more often it may have been made: of a session with very many calls, not all are remembered. */
  readonly uncountedRepeats?: number;
}

/** A program and its arguments, without quotes. */
export interface SimpleCommand {
  /** As it was written; null where only the run will tell. */
  readonly program: string | null;
  /** The program first. U+FFFC stands for what only the run will tell: any text, even none. */
  readonly words: readonly string[];
}

/** Where an argument that is a path leads, as it was found on the disk. */
export interface PathFact {
  /** Where the path stands in the arguments, such as `path` or `paths[1]`. */
  readonly argument: string;
  /** As the model said it. */
  readonly input: string;
  /**
   * - `inside`: in the session's workspace, symlinks followed.
   * - `outside`: elsewhere on this machine.
   * - `protected`: Spanline's own data or configuration.
   * - `invalid`: no path at all, or one that could not be followed.
   */
  readonly location: "inside" | "outside" | "protected" | "invalid";
  /**
   * From the workspace, with `/`, symlinks followed, its names with the bytes that they have on the disk; null unless
   * inside. From `folder`, where that is said.
   */
  readonly workspacePath: string | null;
  /** Which of the session's other folders it is in, where it is in one of those. */
  readonly folder?: string;
  /** The same from the root of the machine; null when invalid. */
  readonly hostPath: string | null;
  readonly reason?: string;
}

/** Where it leads, for people: from the workspace where it is in that, else from the root of the machine. */
export function formatPathTarget({ folder, workspacePath, hostPath, input }: PathFact): string {
  return (folder === undefined ? workspacePath : null) ?? hostPath ?? input;
}

/** A path that could not be followed. */
export function createUnresolvedPath(
  { argument, input }: Pick<PathFact, "argument" | "input">,
  reason: string,
): PathFact {
  return { argument, input, location: "invalid", workspacePath: null, hostPath: null, reason };
}
