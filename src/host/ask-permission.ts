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

/** Answers `session/request_permission`. Whatever goes wrong on the way is no yes. */
export async function askPermission(
  { permission, report }: Pick<HostOptions, "permission"> & { readonly report: Report },
  params: JsonValue | undefined,
  signal: AbortSignal,
): Promise<RpcOutcome> {
  const question = readPermissionQuestion(params);
  if (!question.ok) return question;
  const { value } = question;
  try {
    const { result, problem } = await untilAborted(decide(permission, value, signal), signal);
    if (problem !== undefined) reportUndecided(value, problem, report);
    return { ok: true, result };
  } catch {
    return signal.reason === TURN_CANCELLED
      ? { ok: true, result: putAwayResult() }
      : { ok: false, error: REQUEST_CANCELLED_ERROR };
  }
}

/** What becomes of a question that is not about yes or no, when it is put away, is the agent's to say. */
function reportUndecided(
  { approval: { action }, options, isYesOrNo }: PermissionQuestion,
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
