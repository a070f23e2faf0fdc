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

/** Answers `session/request_permission`. Whatever goes wrong on the way is no yes. */
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

/** What becomes of a question that is not about yes or no, when it is put away, is the agent's to say. */
function reportUndecided(
  { approval: { action }, options, isYesOrNo }: PermissionRequest,
  problem: string,
  report: Report,
): void {
  if (isYesOrNo)
    return report("A permission was denied, since nobody decided", { action, problem });
  const ids = options.map(({ id }) => id);
  report("A question was left open: nobody chose one of its options", {
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
    return encodeUndecidedResult(request, "This host has nobody to ask");
  try {
    const reply = await permission(request, { signal });
    // Somebody else may answer; the agent says when somebody has.
    return reply === "leave" ? await waitForever() : encodePermissionResult(request, reply);
  } catch (error) {
    return encodeUndecidedResult(request, `The host could not ask: ${formatThrown(error)}`);
  }
}

function waitForever(): Promise<never> {
  return new Promise(() => {});
}
