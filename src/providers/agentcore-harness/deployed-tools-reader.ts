import type { AgentCoreClient } from "../../aws/agentcore-client.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { AbortError, toError } from "../../domain/provider/provider-error.ts";
import { readResponseText } from "../../remote/read-response-text.ts";
import { readEndpoint } from "../../wire/agentcore/control/control-response.ts";
import {
  encodeGetEndpoint,
  encodeGetHarness,
  parseHarnessId,
  readDeployedTools,
  type DeployedTools,
} from "../../wire/agentcore/harness/get-harness.ts";

export type ReadDeployedTools = (signal: AbortSignal) => Promise<DeployedTools>;

/** Asks what tools the harness has, at the version that the endpoint serves; again only after a while. */
export function createDeployedToolsReader(
  service: AgentCoreClient,
  harnessArn: string,
  qualifier: string | undefined,
): ReadDeployedTools {
  const id = parseHarnessId(harnessArn);
  let cached: { readonly tools: DeployedTools; readonly at: number } | undefined;

  async function read(signal: AbortSignal): Promise<DeployedTools> {
    let version: string | undefined;
    if (qualifier !== undefined && qualifier !== "DEFAULT") {
      const endpoint = await service.send("control", encodeGetEndpoint(id, qualifier), signal);
      version =
        readEndpoint(await readResponseText(endpoint), "GetHarnessEndpoint").liveVersion ??
        undefined;
    }
    const harness = await service.send("control", encodeGetHarness(id, version), signal);
    return readDeployedTools(await readResponseText(harness));
  }

  return async (signal) => {
    const now = service.clock.monotonic();
    if (cached === undefined || now - cached.at > CACHE_MS) {
      cached = { tools: await read(signal).catch(explainReadFailure), at: now };
    }
    return cached.tools;
  };
}

/** Long enough for the calls of one turn, short enough for somebody who deploys and tries again. */
const CACHE_MS = 60_000;

/** Whoever only invokes may not be allowed to read a harness, or have no signature for it. */
function explainReadFailure(error: unknown): never {
  if (!(error instanceof SpanlineError) || error instanceof AbortError) throw error;
  // Where nobody is, nobody can be called either.
  if (error.code === "connect_failed") throw error;
  const { code, message, details } = error;
  const hint = `Cannot read the deployed tools, beside which ours would come: ${message.replace(/\.$/, "")}. Let whoever calls it read the harness (GetHarness); code can set offeredTools to "replace" to do without`;
  throw toError({ code, message: hint, details: { ...details, operation: "GetHarness" } });
}
