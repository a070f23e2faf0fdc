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
  /** Seconds for the whole invocation. */
  readonly timeout?: number;
}

/** An agent by ARN, the form that providers accept. */
export type AgentReference = Pick<AgentFlags, "harness" | "runtime" | "qualifier">;

export interface AgentLookup {
  readonly io: CommandIo;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
}

/** Resolves the flags to an agent. A harness given by name, id or NAME:TAG is looked up, and its ARN is printed. */
export async function resolveAgentReference(
  flags: AgentFlags,
  { io, terminal, signal }: AgentLookup,
): Promise<AgentReference> {
  const { harness, runtime, qualifier, region, timeout = LOOKUP_SECONDS } = flags;
  const reference = harness ?? runtime;
  if (reference === undefined) {
    throw new SpanlineError("invalid_option", "No agent is named. Fix: add --harness or --runtime");
  }
  if (harness === undefined || harness.startsWith("arn:")) {
    // Called for validation only: throws if the region contradicts the ARN.
    if (region !== undefined) await resolveRegion({ region, reference }, {});
    return omitUndefined({ harness, runtime, qualifier });
  }
  // Loaded only for a name; an ARN needs no lookup.
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

/** Limit for the lookup of a harness, in seconds. A shorter `--timeout` wins. */
const LOOKUP_SECONDS = 60;
