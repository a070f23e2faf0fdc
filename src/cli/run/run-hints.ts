import type { RunAgentFlags } from "./resolve-run-agent.ts";

interface RunProblem {
  /** Of an error, or the reason why the turn ended. */
  readonly code: string;
  readonly details: { readonly [name: string]: unknown };
}

/** What can be done about a run that failed; undefined where the message says it, or nobody knows. */
export function suggestNextStep(
  { code, details }: RunProblem,
  flags: RunAgentFlags,
): string | undefined {
  // It is about a flag or the file, which the message names.
  if (details["path"] !== undefined) return undefined;
  const isNamed = flags.harness !== undefined || flags.runtime !== undefined;
  return (
    (isNamed ? suggestForNamedAgent(code, flags) : CONFIGURED_AGENT_HINTS.get(code)) ??
    COMMON_HINTS.get(code)
  );
}

/** About an agent of AgentCore that the flags name. */
function suggestForNamedAgent(code: string, { endpointUrl }: RunAgentFlags): string | undefined {
  if (code === "connect_failed") {
    return endpointUrl === undefined
      ? "Check the region of the ARN and the network."
      : "Check --endpoint-url; `spanline emulate` starts an emulator on this machine.";
  }
  if (code === "no_credentials" && endpointUrl === undefined) {
    return "Without an account, `spanline emulate` and --endpoint-url do.";
  }
  return NAMED_AGENT_HINTS.get(code);
}

const NAMED_AGENT_HINTS: ReadonlyMap<string, string> = new Map([
  ["access_denied", "Check the credentials, the region of the ARN and this machine's clock."],
  ["not_found", "Check the ARN and --qualifier; `spanline harness list` shows what there is."],
]);

/** About an agent of a configuration. */
const CONFIGURED_AGENT_HINTS: ReadonlyMap<string, string> = new Map([
  ["access_denied", "Check the credentials that the agent's provider has by the configuration."],
  ["not_found", "Check the provider of the agent in the configuration: its model or its ARN."],
]);

const COMMON_HINTS: ReadonlyMap<string, string> = new Map([
  ["throttled", "Wait a little and try again."],
  ["connection_lost", "The agent may have done its work; look before you run it again."],
  ["max_steps", "Raise --max-steps to let it go on for longer."],
  ["max_seconds", "Raise --max-seconds to let it go on for longer."],
]);
