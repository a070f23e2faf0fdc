import type { Actor } from "../../domain/actor.ts";
import type { CommandReply, SessionCommand } from "../../domain/session-command.ts";
import type { Input } from "../input.ts";
import { refused } from "../refused.ts";
import type { Work } from "../work.ts";
import { modeOf, type HostRequest } from "./clients-state.ts";

type HostWanted = Extract<Input, { readonly type: "host-wanted" }>;

/** Asks a client's machine for something. One that is not attached is gone already. */
export function requestOfHost(work: Work, wanted: HostWanted): void {
  const { requestId, clientId, kind, payload, deadline } = wanted;
  work.emit({ type: "host.requested", requestId, clientId, kind, payload, deadline });
  if (modeOf(work.state.clients, clientId) !== undefined) return;
  work.emit({ type: "host.answered", requestId, outcome: "gone" });
}

/** Only the client that was asked can answer. */
export function answerHost(
  work: Work,
  { requestId, outcome, payload }: Extract<SessionCommand, { readonly type: "answer-host" }>,
  by: Actor,
): CommandReply {
  const request = work.state.clients.requests.find((one) => one.requestId === requestId);
  if (request === undefined) return refused("not_found", "This request is not open");
  if (by.clientId !== request.clientId) {
    return refused("access_denied", "This request was made to another client");
  }
  const said = payload === undefined ? {} : { payload };
  work.emit({ type: "host.answered", requestId, outcome, ...said });
  return { status: "accepted" };
}

export function expireRequests(work: Work): void {
  for (const { requestId, deadline } of work.state.clients.requests) {
    if (deadline <= work.at) work.emit({ type: "host.answered", requestId, outcome: "deadline" });
  }
}

/** Closes requests that nobody will answer, or whose answers nobody waits for. */
export function dropRequests(
  work: Work,
  isDropped: (request: HostRequest) => boolean = () => true,
): void {
  for (const request of work.state.clients.requests) {
    if (!isDropped(request)) continue;
    work.emit({ type: "host.answered", requestId: request.requestId, outcome: "gone" });
  }
}
