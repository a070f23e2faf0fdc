import { SpanlineError } from "../../../domain/errors.ts";
import { toSingleLine } from "../../../inspect/trace-style.ts";
import type { Terminal } from "../../../platform/terminal/terminal.ts";
import { resolveRegion } from "../../../provisioning/resolve-region.ts";
import type { ConnectionFlags } from "./connection-flags.ts";
import type { CommandIo } from "../../../platform/process/command-io.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

export interface AgentFlags extends ConnectionFlags {
  readonly harness?: string;
  readonly runtime?: string;
  readonly qualifier?: string;
  readonly region?: string;
  readonly store?: string;
  /** For all of the call, in seconds. */
  readonly timeout?: number;
}

/** An agent by its ARN, as providers want it. */
export type AgentReference = Pick<AgentFlags, "harness" | "runtime" | "qualifier">;

export interface AgentLookup {
  readonly io: CommandIo;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

/** Which agent the flags mean. A harness that is not named by its ARN is looked for, and said. */
export async function resolveAgentReference(
  flags: AgentFlags,
  { io, terminal, signal }: AgentLookup,
): Promise<AgentReference> {
  const { harness, runtime, qualifier, region, timeout = LOOKUP_SECONDS } = flags;
  const reference = harness ?? runtime;
  if (reference === undefined) {
    throw new SpanlineError("invalid_option", "Name one agent, with --harness or with --runtime");
  }
  if (harness === undefined || harness.startsWith("arn:")) {
    // Only for what it refuses: the region of another ARN.
    if (region !== undefined) await resolveRegion({ region, reference }, {});
    return omitUndefined({ harness, runtime, qualifier });
  }
  // Loaded when somebody gives a name: an ARN needs none of it.
  const { findNamedHarness } = await import("../../harness/named-harness.ts");
  const milliseconds = Math.min(LOOKUP_SECONDS, timeout) * 1000;
  const foundHarness = await findNamedHarness(harness, {
    flags,
    io,
    terminal,
    signal,
    timeout: milliseconds,
  });
  terminal.note(`harness ${toSingleLine(foundHarness.arn)}\n`);
  const endpoint = qualifier ?? foundHarness.endpoint;
  return { harness: foundHarness.arn, ...omitUndefined({ qualifier: endpoint }) };
}

/** The most that finding a harness takes of the time for the call. */
const LOOKUP_SECONDS = 60;
