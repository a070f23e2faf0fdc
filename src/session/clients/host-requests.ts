import type { Input } from "../input.ts";
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
