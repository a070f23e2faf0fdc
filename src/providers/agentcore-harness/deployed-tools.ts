import type { AgentCore } from "../../aws/agentcore.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { AbortError, errorOf } from "../../domain/provider-error.ts";
import { readText } from "../../remote/read-text.ts";
import { readEndpoint } from "../../wire/agentcore/control-answer.ts";
import {
  getEndpointRequest,
  getHarnessRequest,
  harnessIdOf,
  readDeployedTools,
  type DeployedTools,
} from "../../wire/agentcore/deployed-tools.ts";

export type ReadDeployedTools = (signal: AbortSignal) => Promise<DeployedTools>;

/** Asks what tools the harness has, at the version that the endpoint serves; again only after a while. */
export function deployedToolsOf(
  service: AgentCore,
  harnessArn: string,
  qualifier: string | undefined,
): ReadDeployedTools {
  const id = harnessIdOf(harnessArn);
  let known: { readonly tools: DeployedTools; readonly at: number } | undefined;

  async function read(signal: AbortSignal): Promise<DeployedTools> {
    let version: string | undefined;
    if (qualifier !== undefined && qualifier !== "DEFAULT") {
      const endpoint = await service.call("control", getEndpointRequest(id, qualifier), signal);
      version =
        readEndpoint(await readText(endpoint), "GetHarnessEndpoint").liveVersion ?? undefined;
    }
    const harness = await service.call("control", getHarnessRequest(id, version), signal);
    return readDeployedTools(await readText(harness));
  }

  return async (signal) => {
    const now = service.clock.monotonic();
    if (known === undefined || now - known.at > FRESH_MILLISECONDS) {
      known = { tools: await read(signal).catch(explained), at: now };
    }
    return known.tools;
  };
}

/** Long enough for the calls of one turn, short enough for somebody who deploys and tries again. */
const FRESH_MILLISECONDS = 60_000;

/** Whoever only invokes may not be allowed to read a harness, or have no signature for it. */
function explained(error: unknown): never {
  if (!(error instanceof SpanlineError) || error instanceof AbortError) throw error;
  // Where nobody is, nobody can be called either.
  if (error.code === "connect_failed") throw error;
  const { code, message, details } = error;
  const hint = `Cannot read the deployed tools, beside which ours would come: ${message.replace(/\.$/, "")}. Let whoever calls it read the harness (GetHarness); code can set offeredTools to "replace" to do without`;
  throw errorOf({ code, message: hint, details: { ...details, operation: "GetHarness" } });
}
