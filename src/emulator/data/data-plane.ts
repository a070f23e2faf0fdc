import type { Clock } from "../../platform/clock.ts";
import type { Brain } from "../brains/brain.ts";
import type { HarnessRegistry, Lifecycle } from "../control/harness-registry.ts";
import type { Switches } from "../switches.ts";
import type { SessionManager } from "./session/session-manager.ts";

/** What the handlers of the data plane share. */
export interface DataPlane {
  readonly harnesses: HarnessRegistry;
  readonly runtimes: readonly RuntimeRecord[];
  readonly brains: BrainFinder;
  readonly sessions: SessionManager;
  readonly switches: Switches;
  readonly clock: Clock;
  readonly commands: Commands;
}

/** Finds the brain of a harness or a runtime by what its settings say. Throws when there is none of that name. */
export type BrainFinder = (name: string | undefined) => Promise<Brain>;

/** Whether InvokeAgentRuntimeCommand really runs commands, as the user who started the emulator. */
export type Commands = "run" | "refuse";

/** An agent on AgentCore Runtime, as the emulator's own settings describe it. */
export interface RuntimeRecord {
  readonly arn: string;
  readonly brain: string | undefined;
  readonly style: RuntimeStyle;
  readonly lifecycle: Lifecycle;
  readonly systemPrompt?: string;
  readonly environment?: { readonly [name: string]: string };
}

/** How an agent's app writes its answers. */
export type RuntimeStyle = (typeof RUNTIME_STYLES)[number];

export const RUNTIME_STYLES = [
  /** Strands and the AgentCore SDK for Python since July 2025: UTF-8, with a repr beside every delta. */
  "python",
  /** The same before that: ASCII with escapes. */
  "python-ascii",
  /** Strands for TypeScript: objects alone, each message six times. */
  "typescript",
  /** An app in TypeScript that yields text: lines that are no JSON. */
  "typescript-strings",
  /** One JSON object, the way an app answers that returns instead of yielding. */
  "json",
] as const;
