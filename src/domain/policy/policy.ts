import type { JsonValue } from "../../data/json.ts";
import type { ApprovalNote, PolicyAction } from "./policy-decision.ts";
import type { SideEffect, ToolKind } from "../tools/tool-traits.ts";

/**
 * What a session lets its tools do: plain data, the same for the same document however its keys were ordered, so that a
 * log can carry it and a digest name it.
 */
export interface Policy {
  /** One for each document; the outermost first. A call has to pass all of them. */
  readonly layers: readonly PolicyLayer[];
}

export interface PolicyLayer {
  /** In the order of their standing: `rules`, then `auto_deny`, `require_approval` and `auto_approve`. */
  readonly rules: readonly Rule[];
  /** Null: writing is not restricted. Empty: nothing may be written. */
  readonly writePathAllowlist: readonly string[] | null;
  /** Beside those that are always sensitive. */
  readonly sensitivePathPatterns: readonly string[];
  readonly allowSensitivePaths: boolean;
  readonly externalRoots: readonly string[];
  readonly allowExternalPaths: boolean;
  readonly allowUnparsedCommands: boolean;
  /** Null: a call may be repeated without end. */
  readonly repeatLimit: number | null;
  readonly repeatAction: "ask" | "deny";
  /** For a call that no rule speaks of. */
  readonly default: PolicyAction;
}

export interface Rule {
  readonly source: RuleSource;
  /** Its place in its source. */
  readonly index: number;
  readonly id: string | null;
  readonly action: PolicyAction;
  readonly match: Matcher;
  readonly reason: string | null;
  /** For a rule that asks: how many different principals have to say yes. */
  readonly approvers: number;
  readonly approval: ApprovalNote | null;
}

export type RuleSource = "rules" | "auto_deny" | "require_approval" | "auto_approve";

/** All that is named has to fit; of the several patterns of one key, any. Nothing named fits every call. */
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

/** What one argument has to be. A list of tests and no object: names of arguments are anybody's. */
export interface ArgumentTest {
  /** Where it stands in the arguments, one name for each level. */
  readonly name: readonly string[];
  readonly equals?: JsonValue;
  readonly in?: readonly JsonValue[];
  /** A regular expression that takes linear time. */
  readonly matches?: string;
  /** Any text by `*`, one character by `?`. */
  readonly glob?: string;
  readonly exists?: boolean;
  readonly atMost?: number;
  readonly atLeast?: number;
}
