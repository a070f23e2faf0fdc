import type { JsonValue } from "../../data/json.ts";
import type { ApprovalNote, PolicyAction } from "./policy-decision.ts";
import type { SideEffect, ToolKind } from "../tools/tool-traits.ts";

/**
 * The rules for a session's tools. Plain data, independent of the key order of its document, so a log can carry the
 * policy and a digest can identify it.
 */
export interface Policy {
  /** One layer per document, the outermost first. A tool call must pass every layer. */
  readonly layers: readonly PolicyLayer[];
}

export interface PolicyLayer {
  /** In order of precedence: `rules`, `auto_deny`, `require_approval`, `auto_approve`. */
  readonly rules: readonly Rule[];
  /** Null: writes are unrestricted. Empty: nothing may be written. */
  readonly writePathAllowlist: readonly string[] | null;
  /** In addition to the built-in sensitive paths. */
  readonly sensitivePathPatterns: readonly string[];
  readonly allowSensitivePaths: boolean;
  readonly externalRoots: readonly string[];
  readonly allowExternalPaths: boolean;
  readonly allowUnparsedCommands: boolean;
  /** Null: unlimited repetition. */
  readonly repeatLimit: number | null;
  readonly repeatAction: "ask" | "deny";
  /** Applies to a tool call without a matching rule. */
  readonly default: PolicyAction;
}

export interface Rule {
  readonly source: RuleSource;
  /** Position within its source. */
  readonly index: number;
  readonly id: string | null;
  readonly action: PolicyAction;
  readonly match: Matcher;
  readonly reason: string | null;
  /** For `ask` rules: number of different principals who must approve. */
  readonly approvers: number;
  readonly approval: ApprovalNote | null;
}

export type RuleSource = "rules" | "auto_deny" | "require_approval" | "auto_approve";

/**
 * Conditions of a rule. All keys must match; within a key, any pattern may match. An empty matcher matches every call.
 */
export interface Matcher {
  readonly tool?: readonly string[];
  readonly toolKind?: readonly ToolKind[];
  readonly sideEffect?: readonly SideEffect[];
  readonly path?: readonly string[];
  readonly command?: readonly string[];
  readonly commandIdentity?: readonly string[];
  readonly url?: readonly string[];
  readonly domain?: readonly string[];
  readonly method?: readonly string[];
  readonly mcpServer?: readonly string[];
  readonly mcpTool?: readonly string[];
  readonly capability?: readonly string[];
  readonly repeatCountAtLeast?: number;
  readonly args?: readonly ArgumentTest[];
}

/** A condition on one argument. A list, not an object keyed by argument, because argument names are arbitrary. */
export interface ArgumentTest {
  /** Path of the argument, one name per level. */
  readonly name: readonly string[];
  readonly equals?: JsonValue;
  readonly in?: readonly JsonValue[];
  /** A regular expression, matched in linear time. */
  readonly matches?: string;
  /** `*` matches any text, `?` a single character. */
  readonly glob?: string;
  readonly exists?: boolean;
  readonly atMost?: number;
  readonly atLeast?: number;
}
