import type { RunAgentFlags } from "./resolve-run-agent.ts";

interface RunProblem {
  /** Code of an error, or the reason for the end of the turn. */
  readonly code: string;
  readonly details: { readonly [name: string]: unknown };
}

/** Suggests a fix for a failed run. Undefined if the message already contains one, or none is known. */
export function suggestNextStep(
  { code, details }: RunProblem,
  flags: RunAgentFlags,
): string | undefined {
  // The error concerns a flag or the configuration file, and its message names the place.
  if (details["path"] !== undefined) return undefined;
  const isNamed = flags.harness !== undefined || flags.runtime !== undefined;
  return (
    (isNamed ? suggestForNamedAgent(code, flags) : CONFIGURED_AGENT_HINTS.get(code)) ??
    COMMON_HINTS.get(code)
  );
}

/** Hints for an AgentCore agent named by flags. */
function suggestForNamedAgent(code: string, { endpointUrl }: RunAgentFlags): string | undefined {
  if (code === "connect_failed") {
    return endpointUrl === undefined
      ? "Fix: check the region of the ARN and the network."
      : "Fix: check --endpoint-url; `spanline emulate` starts an emulator on this machine.";
  }
  if (code === "no_credentials" && endpointUrl === undefined) {
    return "Fix: configure AWS credentials, or use an emulator with `spanline emulate` and --endpoint-url.";
  }
  return NAMED_AGENT_HINTS.get(code);
}

const NAMED_AGENT_HINTS: ReadonlyMap<string, string> = new Map([
  ["access_denied", "Fix: check the credentials, the region of the ARN and this machine's clock."],
  ["not_found", "Fix: check the ARN and --qualifier; `spanline harness list` lists the harnesses."],
]);

/** Hints for an agent of a configuration. */
const CONFIGURED_AGENT_HINTS: ReadonlyMap<string, string> = new Map([
  ["access_denied", "Fix: check the credentials of the agent's provider in the configuration."],
  ["not_found", "Fix: check the agent's provider in the configuration: its model or its ARN."],
]);

const COMMON_HINTS: ReadonlyMap<string, string> = new Map([
  ["throttled", "Fix: wait a moment and try again."],
  ["connection_lost", "The agent may have completed its work. Fix: check before you run it again."],
  ["max_steps", "Fix: raise --max-steps."],
  ["max_seconds", "Fix: raise --max-seconds."],
]);
