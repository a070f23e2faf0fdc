import { untilAborted } from "../async/pause.ts";
import { thrownMessage } from "../domain/errors.ts";
import type { JsonValue } from "../domain/json.ts";
import { REQUEST_CANCELLED_ERROR } from "../wire/acp/client/agent-error.ts";
import {
  readPermissionQuestion,
  type PermissionQuestion,
} from "../wire/acp/client/permission-question.ts";
import {
  permissionResult,
  putAwayResult,
  undecidedResult,
  type PermissionResult,
} from "../wire/acp/client/permission-reply.ts";
import type { RpcOutcome } from "../wire/jsonrpc/rpc-message.ts";
import type { HostOptions } from "./host-options.ts";
import { TURN_CANCELLED } from "./open-requests.ts";
import type { Report } from "./report.ts";

/** Answers `session/request_permission`. Whatever goes wrong on the way is a no. */
export async function askPermission(
  { permission, report }: Pick<HostOptions, "permission"> & { readonly report: Report },
  params: JsonValue | undefined,
  signal: AbortSignal,
): Promise<RpcOutcome> {
  const question = readPermissionQuestion(params);
  if (!question.ok) return question;
  const { value } = question;
  const { action } = value.approval;
  try {
    const { result, problem } = await untilAborted(decide(permission, value, signal), signal);
    if (problem !== undefined) report("A permission was denied by nobody", { action, problem });
    return { ok: true, result };
  } catch {
    return signal.reason === TURN_CANCELLED
      ? { ok: true, result: putAwayResult() }
      : { ok: false, error: REQUEST_CANCELLED_ERROR };
  }
}

async function decide(
  permission: HostOptions["permission"],
  question: PermissionQuestion,
  signal: AbortSignal,
): Promise<PermissionResult> {
  if (permission === undefined) return undecidedResult(question, "This host has nobody to ask");
  try {
    const reply = await permission(question, { signal });
    // Somebody else may answer; the agent says when somebody has.
    return reply === "leave" ? await never() : permissionResult(question, reply);
  } catch (error) {
    return undecidedResult(question, `The host could not ask: ${thrownMessage(error)}`);
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}
