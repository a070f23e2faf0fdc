import type { Actor } from "../../domain/actor.ts";
import type { CommandReply, SessionCommand } from "../../domain/session-command.ts";
import type { TimedInput } from "../session-input.ts";
import { refuse } from "../refuse-command.ts";
import type { Decision } from "../decision.ts";
import { findRole, type HostRequest } from "./clients-state.ts";

type HostRequestInput = Extract<TimedInput, { readonly type: "host-requested" }>;

/** Requests an action from a client's machine. Fails with `gone` at once if the client is not attached. */
export function requestHost(decision: Decision, request: HostRequestInput): void {
  const { requestId, clientId, kind, payload, deadline } = request;
  decision.emit({ type: "host.requested", requestId, clientId, kind, payload, deadline });
  if (findRole(decision.state.clients, clientId) !== undefined) return;
  decision.emit({ type: "host.replied", requestId, outcome: "gone" });
}

/** Records a host's reply. Only the requested client may reply. */
export function submitHostReply(
  decision: Decision,
  { requestId, outcome, payload }: Extract<SessionCommand, { readonly type: "submit-host-reply" }>,
  by: Actor,
): CommandReply {
  const request = decision.state.clients.requests.find(
    (pending) => pending.requestId === requestId,
  );
  if (request === undefined) return refuse("not_found", "This request is not open");
  if (by.clientId !== request.clientId) {
    return refuse("access_denied", "This request was made to another client");
  }
  const payloadField = payload === undefined ? {} : { payload };
  decision.emit({ type: "host.replied", requestId, outcome, ...payloadField });
  return { status: "accepted" };
}

export function expireHostRequests(decision: Decision): void {
  for (const { requestId, deadline } of decision.state.clients.requests) {
    if (deadline <= decision.at)
      decision.emit({ type: "host.replied", requestId, outcome: "deadline" });
  }
}

/** Closes requests whose client is gone or whose tool has ended. */
export function dropHostRequests(
  decision: Decision,
  isDropped: (request: HostRequest) => boolean = () => true,
): void {
  for (const request of decision.state.clients.requests) {
    if (!isDropped(request)) continue;
    decision.emit({ type: "host.replied", requestId: request.requestId, outcome: "gone" });
  }
}
