import type { Clock } from "../../platform/clock.ts";
import type { Brain } from "../brains/brain.ts";
import type { HarnessRegistry, Lifecycle } from "../control/harness-registry.ts";
import type { Switches } from "../switches.ts";
import type { SessionManager } from "./session/session-manager.ts";

/** Shared by the handlers of the data plane. */
export interface DataPlane {
  readonly harnesses: HarnessRegistry;
  readonly runtimes: readonly RuntimeRecord[];
  readonly brains: BrainFinder;
  readonly sessions: SessionManager;
  readonly switches: Switches;
  readonly clock: Clock;
  readonly commands: Commands;
}

/** Finds a brain by its configured name. Throws if the name is unknown. */
export type BrainFinder = (name: string | undefined) => Promise<Brain>;

/** Whether InvokeAgentRuntimeCommand runs commands, as the user of the emulator. */
export type Commands = "run" | "refuse";

/** An agent on AgentCore Runtime, defined by the settings of the emulator. */
export interface RuntimeRecord {
  readonly arn: string;
  readonly brain: string | undefined;
  readonly style: RuntimeStyle;
  readonly lifecycle: Lifecycle;
  readonly systemPrompt?: string;
  readonly environment?: { readonly [name: string]: string };
}

/** The output format of an agent's app. */
export type RuntimeStyle = (typeof RUNTIME_STYLES)[number];

export const RUNTIME_STYLES = [
  /** Strands with the AgentCore SDK for Python since July 2025: UTF-8, and a repr after every delta. */
  "python",
  /** The same before July 2025: ASCII with escapes. */
  "python-ascii",
  /** Strands for TypeScript: only objects, each message six times. */
  "typescript",
  /** A TypeScript app that yields text: lines that are not JSON. */
  "typescript-strings",
  /** A single JSON object, from an app that returns instead of yielding. */
  "json",
] as const;
