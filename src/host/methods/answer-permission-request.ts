import { waitUnlessAborted } from "../../async/pause.ts";
import { formatThrown } from "../../domain/errors.ts";
import type { JsonValue } from "../../data/json.ts";
import { REQUEST_CANCELLED_ERROR } from "../../wire/acp/client/agent-error.ts";
import {
  readPermissionRequest,
  type PermissionRequest,
} from "../../wire/acp/client/read-permission-request.ts";
import {
  encodePermissionResult,
  encodeCancelledResult,
  encodeUndecidedResult,
  type PermissionResult,
} from "../../wire/acp/client/permission-reply.ts";
import type { RpcOutcome } from "../../wire/jsonrpc/rpc-message.ts";
import type { HostOptions } from "./host-options.ts";
import { TURN_CANCELLED } from "../connection/open-requests.ts";
import type { Report } from "../connection/host-report.ts";

/** Responds to `session/request_permission`. Any failure on the way counts as a denial. */
export async function answerPermissionRequest(
  { permission, report }: Pick<HostOptions, "permission"> & { readonly report: Report },
  params: JsonValue | undefined,
  signal: AbortSignal,
): Promise<RpcOutcome> {
  const decodedRequest = readPermissionRequest(params);
  if (!decodedRequest.ok) return decodedRequest;
  const { value } = decodedRequest;
  try {
    const { result, problem } = await waitUnlessAborted(
      decidePermission(permission, value, signal),
      signal,
    );
    if (problem !== undefined) reportUndecided(value, problem, report);
    return { ok: true, result };
  } catch {
    return signal.reason === TURN_CANCELLED
      ? { ok: true, result: encodeCancelledResult() }
      : { ok: false, error: REQUEST_CANCELLED_ERROR };
  }
}

/** For a request with other choices than yes and no, the agent decides the meaning of a missing choice. */
function reportUndecided(
  { approval: { action }, options, isYesOrNo }: PermissionRequest,
  problem: string,
  report: Report,
): void {
  if (isYesOrNo) return report("A permission was denied without a decision", { action, problem });
  const ids = options.map(({ id }) => id);
  report("A request was cancelled without a chosen option", {
    action,
    problem,
    options: ids,
  });
}

async function decidePermission(
  permission: HostOptions["permission"],
  request: PermissionRequest,
  signal: AbortSignal,
): Promise<PermissionResult> {
  if (permission === undefined)
    return encodeUndecidedResult(request, "This host has no permission callback");
  try {
    const reply = await permission(request, { signal });
    // Another client may decide; the agent then withdraws this request.
    return reply === "leave" ? await waitForever() : encodePermissionResult(request, reply);
  } catch (error) {
    return encodeUndecidedResult(request, `The permission callback failed: ${formatThrown(error)}`);
  }
}

function waitForever(): Promise<never> {
  return new Promise(() => {});
}
